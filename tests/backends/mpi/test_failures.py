"""Whatever a rank does, its case gets an answer and the next case works."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import Any

import msgspec
import psutil
import pytest

from conformance.backends.mpi import MPI, job
from conformance.cases.case import Fault
from conformance.cases.observation import Observation


@pytest.fixture
def good(one: Any) -> Any:
    return one("all_reduce", 2, op="sum")


def kinds(seen: Observation) -> list[str | None]:
    return [error and error.kind for error in seen.errors]


def ranks(backend: MPI) -> list[psutil.Process]:
    """Return the processes of the two ranks, youngest last."""
    launcher = psutil.Process(backend._job(2)._popen.pid)
    return [process for process in launcher.children(recursive=True) if not process.children()]


def test_a_rank_that_dies_is_an_error_of_its_case(mpi: MPI, good: Any) -> None:
    mpi.close()
    ranks(mpi)[0].kill()
    seen = mpi.execute(good)
    assert "Crash" in kinds(seen)
    assert seen.errors[0] is not None
    assert re.search("signal:? 9", seen.errors[0].message, re.IGNORECASE)
    assert not mpi.execute(good).errors


def test_a_rank_that_died_after_other_cases_is_asked_again(mpi: MPI, good: Any) -> None:
    assert not mpi.execute(good).errors
    ranks(mpi)[1].kill()
    assert not mpi.execute(good).errors


def test_ranks_that_wait_for_ever_are_an_error_of_their_case(
    mpi: MPI, good: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not mpi.execute(good).errors
    monkeypatch.setattr(job, "DEADLINE", 0.5)
    ranks(mpi)[1].suspend()
    assert kinds(mpi.execute(good)) == ["Hang", "Hang"]
    monkeypatch.undo()
    assert not mpi.execute(good).errors


def test_a_rank_that_raises_alone_ends_the_job_of_those_that_wait(mpi: MPI, one: Any, good: Any) -> None:
    asked = one("all_to_all_uneven", 2, sends=((1, 3), (4,)), receives=((1, 4), (3, 0)))
    assert kinds(mpi.execute(asked)) == ["Abort", "ValueError"]
    assert not mpi.execute(good).errors


def test_ranks_that_refuse_alike_stay(mpi: MPI, one: Any, good: Any) -> None:
    assert not mpi.execute(good).errors
    before = {process.pid for process in ranks(mpi)}
    assert kinds(mpi.execute(one("all_reduce", 2, op="median"))) == ["ValueError"] * 2
    assert kinds(mpi.execute(one("permute", 2, pairs=((0, 0), (1, 2), (2, 1))))) == [None, "MPI_ERR_RANK"]
    assert not mpi.execute(good).errors
    assert {process.pid for process in ranks(mpi)} == before


WORKER = """
import sys, msgspec
from conformance.backends.mpi import MPI
from conformance.cases.case import Case
backend = MPI()
print(len(backend.execute(msgspec.json.decode(sys.argv[1], type=Case)).errors), flush=True)
sys.stdin.read()
"""


def test_ranks_die_with_a_worker_that_is_killed(mpi: MPI, good: Any) -> None:
    command = [sys.executable, "-c", WORKER, msgspec.json.encode(good).decode()]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "0\n"
    started = psutil.Process(worker.pid).children(recursive=True)
    assert len(started) >= 3
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    _, alive = psutil.wait_procs(started, timeout=60)
    assert not alive


def test_ranks_that_do_not_start_say_why(one: Any, mpi: MPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi, "_launcher", "false")
    mpi.close()
    with pytest.raises(RuntimeError, match="2 ranks did not start: without a word"):
        mpi.execute(one("all_reduce", 2, op="sum"))


def test_a_late_rank_is_waited_for_and_one_that_is_to_die_is_not_asked_to(mpi: MPI, good: Any) -> None:
    late = msgspec.structs.replace(good, faults=(Fault(rank=1, before=0, delay=0.1),))
    assert mpi.execute(late).results == mpi.execute(good).results
    dead = msgspec.structs.replace(good, faults=(Fault(rank=1, before=0),))
    assert kinds(mpi.execute(dead)) == ["Unsupported", "Unsupported"]


def test_an_exception_of_the_adapters_own_lines_is_not_the_librarys(mpi: MPI, one: Any) -> None:
    assert {error.category for error in mpi.execute(one("all_gather", 2, axis=7, tiled=True)).errors if error} == {
        "adapter"
    }
    assert {error.category for error in mpi.execute(one("broadcast", 2, root=7)).errors if error} == {
        "invalid_argument"
    }
