"""Which MPI is loaded, and how its ranks are started."""

from __future__ import annotations

import os
import sys

import pytest

from conformance.backends.mpi import MPI, IntelMPI, OpenMPI, library
from conformance.backends.mpi.job import Job
from conformance.backends.mpi.library import IMPLEMENTATIONS, Library, loaded
from conformance.runner.smoke import example_case
from conformance.specs import OPS


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


def test_a_launcher_of_ones_own_starts_the_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.LAUNCH, "env X=1 srun --hosts a,b -n {ranks}")
    launch = of("intel").launch(3)
    assert (launch.command, launch.environment) == (("env", "X=1", "srun", "--hosts", "a,b", "-n", "3"), {})
    monkeypatch.setenv(library.LAUNCH, "env -n 4")
    with pytest.raises(ValueError, match=r"without \{ranks\}; write it as 'srun -n \{ranks\}'"):
        of("intel").launch(3)
    monkeypatch.setenv(library.LAUNCH, "/nowhere/srun -n {ranks}")
    with pytest.raises(FileNotFoundError, match="which is no program here"):
        of("intel").launch(3)


def test_ranks_come_to_an_address_and_a_stranger_is_turned_away(mpi: MPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    stranger = "import socket, sys; socket.create_connection(sys.argv[-2].rsplit(':', 1)).sendall(b'0 0 3')"
    both = [sys.executable, "-c", f"import os, subprocess, sys; subprocess.run([sys.executable, '-c', {stranger!r}, "
            "*sys.argv[-2:]]); os.execvp(sys.argv[1], sys.argv[1:])"]  # fmt: skip
    job = Job((*both, *loaded().launch(3).command), 3, loaded().launch(3).environment, "127.0.0.1")
    try:
        case = example_case("broadcast", OPS["broadcast"].examples[0])
        assert case.program.world == 3
        assert not any(answer.raised for answer in job.ask(case))
    finally:
        job.kill()
