"""Four CPU devices of one process of JAX."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.specification.framework_names import jax_control_flow_rows, jax_number_rows, jax_program_rows
from tests.specification.framework_names.jax_rows import jax_rows
from tests.specification.framework_names.rows import WORLD

assert jax_program_rows.__doc__  # they have entered their rows
assert jax_control_flow_rows.__doc__
assert jax_number_rows.__doc__


def serve(folder: Path) -> None:
    """Run every row on every device; a row that raises does so on all."""
    for device in range(WORLD):
        jax_rows.observe(device, folder / f"jax{device}.json")


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
