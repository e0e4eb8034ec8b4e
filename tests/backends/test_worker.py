"""Every case gets its observation, also one that arrives while others run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from conformance.backends.base import Backend
from conformance.backends.exceptions import category_of
from conformance.backends.observing import observations
from conformance.backends.protocol import Run, RunGraph
from conformance.backends.reference import Reference
from conformance.backends.worker import serve
from conformance.cases.case import Case, Fault
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation
from conformance.cases.program.health import followed, health_case

Make = Callable[..., Case]


class Counting(Backend):
    """Answers a case with the number of the call it was in."""

    def __init__(self, *, takes_up: bool) -> None:
        self.calls = 0
        self.takes_up = takes_up

    def execute_many(self, cases: Sequence[Case]) -> Iterator[Observation]:
        self.calls += 1
        for _ in cases if self.takes_up else list(cases):
            yield Observation(seconds=self.calls)


def answers(backend: Backend, case: Case) -> list[tuple[float, bool]]:
    """Return seconds and whether it raised for each of two cases and a third that arrives with the first answer."""
    cases, seen = [(case,), (case,)], []
    for observation in observations(backend, cases):
        if not seen:
            cases.append((case,))
        seen.append((observation.seconds, observation.raised))
    return seen


def test_a_case_that_arrives_joins_the_others(one: Make) -> None:
    assert answers(Counting(takes_up=True), one("all_reduce", 2, op="sum")) == [(1, False)] * 3


def test_a_case_that_is_not_taken_up_is_handed_over_again(one: Make) -> None:
    assert answers(Counting(takes_up=False), one("all_reduce", 2, op="sum")) == [(1, False), (1, False), (2, False)]


@pytest.mark.parametrize(
    ("code", "kind", "category"),
    [
        ("raise ValueError", ValueError, "invalid_argument"),
        ("[][9]", IndexError, "invalid_argument"),
        ("raise NameError('no axis y')", NameError, "invalid_argument"),
        ("misspelt", NameError, "internal"),
        ("raise OSError", OSError, "internal"),
        ("raise NotImplementedError", NotImplementedError, "unsupported"),
    ],
)
def test_whose_fault_an_error_is_takes_up_from_its_type(code: str, kind: type[Exception], category: str) -> None:
    with pytest.raises(kind) as caught:
        exec(code)
    assert category_of(caught.value) == category


def test_a_case_with_trouble_is_followed_by_one_about_health(one: Make) -> None:
    plain = one("all_reduce", 2, op="sum")
    troubled = replace(plain, faults=(Fault(rank=0, before=0, delay=0.5),))
    seen = list(observations(Reference(), [followed(troubled), followed(plain), followed(troubled)]))
    right = Reference().execute(health_case(troubled))
    assert [each.health and each.health.results for each in seen] == [right.results, None, right.results]
    assert [each.results for each in seen] == [seen[1].results] * 3


EMPTY = GraphCase(graph=Graph(nodes=(), results=()), buffers={}, rounds=(Round(until=0),))


class Foreseeing(Backend):
    """Notes what it is shown, and answers graphs with the number that it has been shown."""

    name = "foreseeing"

    def __init__(self) -> None:
        self.shown = 0

    def anticipate(self, calls: Sequence[Callable[[], object]]) -> None:
        self.shown += len(calls)
        raise ValueError("nobody looks at this")

    def graph(self, case: GraphCase) -> Observation:
        del case
        return Observation(seconds=self.shown)


@pytest.mark.parametrize(("asked", "shown"), [(1, [0]), (2, [2, 2]), (18, [18] * 18)])
def test_a_backend_is_shown_what_comes_next(tmp_path: Path, asked: int, shown: list[int]) -> None:
    read, write = os.pipe()
    answers, sink = os.pipe()
    requests = [RunGraph(seq=number, case=EMPTY) for number in range(asked)]
    os.write(write, b"".join(msgspec.json.encode(each) + b"\n" for each in requests))
    os.close(write)
    serve(Foreseeing(), read, sink, tmp_path)
    os.close(sink)
    with os.fdopen(answers, "rb") as said:
        lines = said.read().splitlines()
    assert [msgspec.json.decode(line)["observation"]["seconds"] for line in lines] == shown


def test_a_worker_gives_back_the_memory_of_cases(tmp_path: Path, one: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr("conformance.backends.released_memory.give_back", lambda: given.append(1))
    monkeypatch.setattr("conformance.backends.released_memory.BYTES", 1)
    read, write = os.pipe()
    answers, sink = os.pipe()
    os.write(write, msgspec.json.encode(Run(seq=0, case=one("all_reduce", 2, op="sum"))) + b"\n")
    os.close(write)
    serve(Reference(), read, sink, tmp_path)
    os.close(sink)
    with os.fdopen(answers, "rb") as said:
        assert (len(said.read().splitlines()), given) == (1, [1])
