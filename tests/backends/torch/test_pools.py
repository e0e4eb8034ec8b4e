"""Which ranks a case gets, and what they share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import psutil
import pytest

from conformance.backends.torch import Torch
from conformance.backends.torch.operation import Operation, mapped
from conformance.backends.torch.processes import huge_pages
from conformance.backends.torch.processes.job import looks
from conformance.backends.torch.processes.store import Store
from conformance.cases.case import Case
from conformance.cases.tensor.tensor import to_array

Make = Callable[..., Case]


def die(block: Any, group: Any, **_: Any) -> Any:
    os._exit(7)


def pid(block: Any, group: Any, **_: Any) -> Any:
    return block * 0 + os.getpid()


class Telling(Torch):
    """All ranks die in an all_gather, and each says in a broadcast who it is."""

    def operations(self) -> dict[str, Operation]:
        return {"all_gather": mapped(die), "broadcast": mapped(pid)}


@pytest.fixture
def telling() -> Iterator[Telling]:
    backend = Telling()
    yield backend
    backend.close()


def ranks(backend: Torch, asked: Case) -> list[int]:
    return [int(to_array(block)[0]) for block in backend.execute(asked).results["y"] if block is not None]


def test_what_looks_like_a_case_that_broke_its_ranks_leaves_the_others_alone(telling: Telling, case: Make) -> None:
    tell, broken, alike = case("broadcast", 2, root=0), case("all_gather", 2, axis=0), case("all_gather", 2, axis=0)
    assert telling.execute(broken).raised
    before = ranks(telling, tell)
    assert telling.execute(alike).raised
    assert ranks(telling, tell) == before


def test_cases_look_alike_whatever_their_reduction_and_world(case: Make) -> None:
    one = looks(case("all_reduce", 2, op="sum"))
    assert one == looks(case("all_reduce", 3, op="max", shape=(7,)))
    assert one != looks(case("all_reduce", 2, op="sum", shape=(2, 2)))
    assert looks(case("all_gather", 2, axis=0)) != looks(case("all_gather", 2, axis=1))


def test_more_than_fits_one_message_is_run_in_order(telling: Telling, case: Make) -> None:
    asked = [case("broadcast", 1 + number % 3, root=0) for number in range(60)]
    seen = list(telling.execute_many(asked))
    assert [len(observation.results["y"]) for observation in seen] == [1 + number % 3 for number in range(60)]


@pytest.mark.skipif(not huge_pages.MAPS.exists(), reason="ranks stand still on Linux alone")
def test_ranks_without_a_case_stand_still(telling: Telling, case: Make) -> None:
    for _ in range(2):
        processes = [psutil.Process(rank) for rank in ranks(telling, case("broadcast", 2, root=0))]
        until = time.monotonic() + 60
        while {process.status() for process in processes} != {"stopped"} and time.monotonic() < until:
            time.sleep(0.01)
        assert {process.status() for process in processes} == {"stopped"}


def test_a_store_that_ended_is_replaced() -> None:
    others = set(psutil.Process().children())
    store = Store()
    first, second = store.meeting(), store.meeting()
    assert (first.port, first.prefix != second.prefix) == (second.port, True)
    (process,) = set(psutil.Process().children()) - others
    process.kill()
    until = time.monotonic() + 60
    while store.meeting().port == first.port and time.monotonic() < until:
        time.sleep(0.01)
    assert store.meeting().port != first.port
    store.close()
    assert not set(psutil.Process().children()) - others


def test_ranks_wait_until_all_have_come() -> None:
    store = Store()
    meeting = store.meeting()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(meeting.join, 0, 2)
        with pytest.raises(TimeoutError):
            first.result(0.2)
        meeting.join(1, 2)
        first.result(60)
    store.close()


def test_memory_in_huge_pages_holds_what_it_held() -> None:
    data = np.arange(1 << 21)
    huge_pages.collapse()
    assert (data == np.arange(1 << 21)).all()
