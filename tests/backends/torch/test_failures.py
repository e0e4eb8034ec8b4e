"""Whatever a rank does, its case gets an answer and the next case works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import psutil
import pytest

from conformance.backends.attribution import framework
from conformance.backends.torch import Torch
from conformance.backends.torch.operation import Operation, Started, mapped
from conformance.backends.torch.processes import shares, supervisor
from conformance.cases.case import Case
from conformance.cases.observation import Observation, RankError
from conformance.cases.tensor.dtypes import NUMPY
from tests.backends.effectful import spoilt, step, written

Make = Callable[..., Case]
KEEP = {"axis": 0, "tiled": True}


def die(block: Any, group: Any, **_: Any) -> Any:
    if group.rank() == 1:
        os._exit(7)
    return _gathered(block, group)


def sleep(block: Any, group: Any, **_: Any) -> Any:
    if group.rank() == 1:
        time.sleep(60)
    return block


def scribble(block: Any, group: Any, **_: Any) -> Any:
    if group.rank() == 1:
        block[2] = 99
    return block.clone()


@framework()
def one_raises(block: Any, group: Any, **_: Any) -> Any:
    if group.rank() == 0:
        raise ValueError("rank 0 had enough")
    return _gathered(block, group)


@framework()
def hasty(block: Any, group: Any, out: Any, **_: Any) -> Started:
    out[1] = 99
    if group.rank() == 0:
        raise ValueError("rank 0 looks at arguments when all is done")
    return Started(None, lambda: out)


def _gathered(block: Any, group: Any) -> Any:
    import torch.distributed as dist

    dist.all_reduce(block.clone(), group=group)
    return block


class Bad(Torch):
    def operations(self) -> dict[str, Operation]:
        bad = {"all_gather": die, "permute": sleep, "broadcast": scribble, "all_to_all": one_raises}
        plain = {**super().operations(), **{name: mapped(function) for name, function in bad.items()}}
        return {**plain, "start_broadcast": hasty}


@pytest.fixture(scope="module")
def bad() -> Iterator[Bad]:
    backend = Bad()
    yield backend
    backend.close()


@pytest.fixture
def good(case: Make) -> Case:
    made: Case = case("all_reduce", 2, op="sum")
    return made


def kinds(errors: tuple[RankError | None, ...]) -> list[str | None]:
    return [error and error.kind for error in errors]


def test_a_rank_that_dies_is_an_error_of_its_case(bad: Bad, case: Make, good: Case) -> None:
    before, seen, after = bad.execute_many([good, case("all_gather", 2, **KEEP), good])
    assert kinds(seen.errors) == ["RuntimeError", "Crash"]
    assert "exited with status 7" in seen.errors[1].message
    assert not before.errors
    assert not after.errors


def test_a_rank_that_hangs_is_an_error_of_its_case(
    bad: Bad, case: Make, good: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "DEADLINE", 3.0)
    seen = bad.execute(case("permute", 2, pairs=()))
    assert kinds(seen.errors) == [None, "Hang"]
    assert not bad.execute(good).errors


def test_a_rank_that_raises_alone_leaves_nobody_waiting(bad: Bad, case: Make, good: Case) -> None:
    seen = bad.execute(case("all_to_all", 3, split_axis=0, concat_axis=0, tiled=True))
    assert kinds(seen.errors) == ["ValueError", "RuntimeError", "RuntimeError"]
    assert all("Connection closed by peer" in error.message for error in seen.errors[1:])  # none waited for a timeout
    assert not bad.execute(good).errors


def test_a_changed_input_is_reported(bad: Bad, case: Make) -> None:
    seen = bad.execute(case("broadcast", 2, root=0, layout="strided"))
    assert [(change.input, change.rank, change.index) for change in seen.touched] == [("x", 1, 4)]
    assert seen.touched[0].after == "63000000"


def test_what_a_refused_program_has_written_is_reported_of_every_rank(bad: Bad, torch: Torch, case: Make) -> None:
    call = step("y = broadcast b", axes=("i",), attrs={"root": 2}, into=("b",))
    asked = written(case("broadcast", 2, root=0), [step("b = buffer x"), call])
    seen = bad.execute(asked)
    assert kinds(seen.errors) == ["ValueError", None]
    assert spoilt(asked, seen) == [("b", 0, 1), ("b", 1, 1)]
    assert spoilt(asked, torch.execute(asked)) == []


def test_a_receive_that_is_refused_has_cleared_nothing(torch: Torch, case: Make) -> None:
    sent: dict[str, Any] = {"axes": ("i",), "attrs": {"pairs": ((0, 1),)}}
    received = {"axes": ("i",), "attrs": {"pairs": ((2, 1),), "shape": (4,), "dtype": "int32"}, "into": ("b",)}
    steps = [step("b = buffer x"), step("k = send x", **sent), step("y = recv k", **received)]
    asked = written(case("broadcast", 2, root=0), steps)
    seen = torch.execute(asked)
    assert seen.raised
    assert spoilt(asked, seen) == []


def test_an_unknown_reduction_is_refused_by_every_rank_and_the_ranks_stay(
    torch: Torch, case: Make, good: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "GRACE", 60.0)  # on a busy machine one rank may be late to raise
    assert not torch.execute(good).errors
    ranks = set(psutil.Process().children())
    seen = torch.execute(case("all_reduce", 2, op="median"))
    assert kinds(seen.errors) == ["Refused", "Refused"]
    assert not torch.execute(good).errors
    assert ranks == set(psutil.Process().children())


@pytest.mark.parametrize(
    "asked",
    [{"layout": "flipped"}, {"groups": ((0,),)}, {"groups": ((0, 1), (1,))}],
    ids=["flipped", "a rank in no group", "a rank in two groups"],
)
def test_what_torch_cannot_be_asked_is_unsupported(torch: Torch, case: Make, asked: dict[str, Any]) -> None:
    assert {error.category for error in torch.execute(case("all_reduce", 2, op="sum", **asked)).errors if error} == {
        "unsupported"
    }


def test_observations_come_in_order_over_worlds(torch: Torch, case: Make) -> None:
    worlds = [3, 1, 2, 3, 2, 1]
    seen = list(torch.execute_many([case("all_gather", world, axis=0, tiled=True) for world in worlds]))
    assert [len(observation.results["y"]) for observation in seen] == worlds


WORKER = """
import sys, msgspec
from conformance.backends.torch import Torch
from conformance.cases.case import Case
print(len(Torch().execute(msgspec.json.decode(sys.argv[1], type=Case)).errors), flush=True)
sys.stdin.read()
"""


def test_ranks_die_with_a_worker_that_is_killed(good: Case) -> None:
    command = [sys.executable, "-c", WORKER, msgspec.json.encode(good).decode()]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "0\n"
    ranks_and_store = psutil.Process(worker.pid).children()
    assert len(ranks_and_store) == 3
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    _, alive = psutil.wait_procs(ranks_and_store, timeout=60)
    assert not alive


def waiting(seconds: float) -> Observation:
    error = RankError(kind="RuntimeError", message="Wait timeout", category="internal")
    return Observation(errors=(error,) if seconds > 0.5 else (), seconds=seconds)


@pytest.mark.parametrize(
    ("arrivals", "seconds", "doubt"),
    [
        ((0, 0, 1), (0, 0, 1), False),
        ((0, 1, 1), (0, 1, 1), False),
        ((1, 1, 1), (1, 1, 1), True),
        ((0, 1, 1), (0, 0, 1), True),
    ],
    ids=["one in vain", "two in vain", "all waited", "one began late"],
)
def test_a_timeout_is_doubtful_when_the_machine_may_be_slow(
    arrivals: tuple[float, ...], seconds: tuple[float, ...], doubt: bool
) -> None:
    assert shares.doubtful(arrivals, [waiting(each) for each in seconds]) == doubt


def test_a_crash_that_an_earlier_case_may_have_caused_is_asked_again(bad: Bad, case: Make, good: Case) -> None:
    seen = list(bad.execute_many([good, case("all_gather", 2, **KEEP), good]))
    assert [bool(observation.errors) for observation in seen] == [False, True, False]


def test_what_has_no_carrier_and_no_dtype_is_unsupported(torch: Torch, case: Make) -> None:
    for asked in (case("arg_reduce", 2, op="max"), case("broadcast", 2, root=0, dtype=NUMPY["int4"])):
        assert {error.category for error in torch.execute(asked).errors if error} == {"unsupported"}
