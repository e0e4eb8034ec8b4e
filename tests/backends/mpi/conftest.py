"""One MPI for all tests, for starting ranks takes half a second."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.backends.mpi import MPI


@pytest.fixture(scope="session")
def mpi() -> Iterator[MPI]:
    pytest.importorskip("mpi4py")
    try:
        backend = MPI()
    except (ImportError, OSError, RuntimeError) as error:
        pytest.skip(f"no MPI library or launcher: {error}")
    yield backend
    backend.close()
