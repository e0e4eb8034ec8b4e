"""One process of MPI, which runs all rows."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.specification.framework_names import mpi_in_place_rows, mpi_start_rows
from tests.specification.framework_names.mpi_rows import mpi_rows, world

assert mpi_in_place_rows.__doc__  # they have entered their rows
assert mpi_start_rows.__doc__

if __name__ == "__main__":
    here = world().Get_rank()
    mpi_rows.observe(here, Path(sys.argv[1]) / f"mpi{here}.json")
