"""Which MPI is loaded, and how its ranks are started."""

from __future__ import annotations

import os

import pytest

from conformance.backends.mpi import MPI, IntelMPI, OpenMPI, library
from conformance.backends.mpi.job import Job
from conformance.backends.mpi.library import IMPLEMENTATIONS, Library, loaded


def of(name: str) -> Library:
    return Library(IMPLEMENTATIONS[name], "1.0", "", "4.1")


@pytest.fixture(autouse=True)
def launchers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "launcher", lambda wheel: f"/{wheel}/mpiexec")


def test_open_mpi_is_told_that_root_may_start_more_ranks_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    launch = of("openmpi").launch(2)
    assert launch.command == ("/openmpi/mpiexec", "--oversubscribe", "-n", "2")
    assert launch.environment == {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert of("openmpi").launch(2).environment == {}


def test_the_users_own_settings_win(monkeypatch: pytest.MonkeyPatch) -> None:
    assert of("intel").launch(2).environment == {"I_MPI_FABRICS": "shm"}
    monkeypatch.setenv("I_MPI_FABRICS", "ofi")
    assert of("intel").launch(2).environment == {"I_MPI_FABRICS": "ofi"}


def test_ranks_that_crowd_the_cores_sleep_while_they_wait() -> None:
    assert of("mpich").launch(2).environment == {}
    assert of("mpich").launch(10_000).environment == {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}


@pytest.mark.parametrize("backend", [OpenMPI, IntelMPI])
def test_a_backend_that_demands_another_implementation_says_where_it_is_judged(
    backend: type[MPI], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.backends.mpi.loaded", lambda: of("mpich"))
    wanted = rf"loads MPICH 1.0 here, and not .*; in an environment .* pip install 'mesh-conformance\[{backend.name}\]'"
    with pytest.raises(ImportError, match=wanted):
        backend()


def test_no_launcher_is_said_before_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(library.sys, "executable", "/nowhere/python")
    monkeypatch.setattr(library.shutil, "which", lambda name, path: None)
    with pytest.raises(FileNotFoundError, match="no mpiexec beside the interpreter or on the path"):
        library.launcher("no such wheel")


def test_the_launcher_of_another_library_is_told_by_the_worlds_it_starts(mpi: MPI) -> None:
    with pytest.raises(RuntimeError, match="started a world of 1 instead of 2: it does not belong"):
        Job(("/usr/bin/env",), 2, {})


def test_what_is_described_is_what_is_loaded(mpi: MPI) -> None:
    described = mpi.describe()
    assert described["implementation"] == loaded().name
    assert described["implementation"].split()[-1] in described["library"]
