"""Cases of which a process is asked about one at a time: two processes take turns, and verdicts keep their order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from conformance.cases.observation import Observation
from conformance.judging.verdict import Verdict
from conformance.runner.backend.dialogues import Dialogues
from conformance.runner.backend.inquiry import Inquiry
from conformance.runner.clock import Clock
from conformance.runner.dialect import Ask, Dialogue
from conformance.runner.worker.answers import Answer, Broken


class Told:
    """A worker whose answers come when they are told."""

    def __init__(self, other: Told | None = None) -> None:
        """Begin without a request."""
        self.asked: list[Any] = []
        self._come: list[tuple[int, Answer]] = []
        self._other = other

    def sibling(self) -> Told | None:
        """Return the other worker."""
        return self._other

    def submit(self, request: Any) -> int:
        """Take a request."""
        self.asked.append(request)
        return len(self.asked)

    def tell(self, request: str, *, broken: bool = False) -> None:
        """Answer a request."""
        seen = Broken("not_run", "it did not start") if broken else Observation(results={}, errors=())
        self._come.append((self.asked.index(request) + 1, Answer(seen)))

    def cancel(self) -> None:
        """Give up what was not answered."""

    def poll(self, timeout: float) -> list[tuple[int, Answer]]:
        """Return what was told."""
        del timeout
        come, self._come = self._come, []
        return come


def inquiry(name: str, *, apart: bool = True) -> Inquiry:
    """Return a case that is asked about twice, the second time in another process; ``apart`` from other cases."""

    def dialogue() -> Dialogue:
        yield Ask(f"{name}1")  # type: ignore[arg-type]  # any request will do
        yield Ask(f"{name}2", elsewhere=True)  # type: ignore[arg-type]
        return Verdict(outcome="passed", clauses={}, detail=name)

    dialect = SimpleNamespace(name="it" if apart else "other", one_at_a_time=apart)
    case: Any = SimpleNamespace(case=None, dialect=dialect)
    return Inquiry(case, 0, dialogue())


def begun() -> tuple[Dialogues, Told, Told]:
    """Return dialogues about three cases, of which the first came to its second question."""
    one = Told(other := Told())
    dialogues = Dialogues(one, Clock())  # type: ignore[arg-type]  # all that is asked of a worker here
    for name in "abc":
        dialogues.begin(inquiry(name))
    assert (one.asked, other.asked) == (["a1"], [])
    one.tell("a1")
    assert not list(dialogues.finished())
    return dialogues, one, other


def test_once_the_other_process_answers_it_takes_every_second_case_and_verdicts_keep_the_order() -> None:
    dialogues, one, other = begun()
    other.tell("a2")
    assert [verdict.detail for _, verdict in dialogues.finished()] == ["a"]
    assert (one.asked[1:], other.asked[1:]) == (["b1"], ["c1"])
    other.tell("c1")
    assert not list(dialogues.finished())
    one.tell("c2")
    assert not list(dialogues.finished())
    one.tell("b1")
    assert not list(dialogues.finished())
    other.tell("b2")
    assert [verdict.detail for _, verdict in dialogues.finished()] == ["b", "c"]
    assert not dialogues.outstanding


def test_a_process_that_does_not_answer_takes_no_case() -> None:
    dialogues, one, other = begun()
    other.tell("a2", broken=True)
    assert [verdict.detail for _, verdict in dialogues.finished()] == ["a"]
    assert (one.asked[1:], other.asked[1:]) == (["b1"], [])
    assert len(dialogues.cancel()) == 2


def test_beside_cases_of_other_dialects_it_has_processes_of_its_own_once_a_second_one_answers() -> None:
    one = Told(other := Told(third := Told()))
    dialogues = Dialogues(one, Clock())  # type: ignore[arg-type]  # all that is asked of a worker here
    for each in (inquiry("x", apart=False), inquiry("a"), inquiry("b"), inquiry("c")):
        dialogues.begin(each)
    assert (one.asked, other.asked) == (["x1", "a1"], [])
    one.tell("a1")
    assert not list(dialogues.finished())
    other.tell("a2")
    assert [verdict.detail for _, verdict in dialogues.finished()] == ["a"]
    assert (one.asked[2:], other.asked[1:], third.asked) == ([], ["b1"], ["c1"])
    other.tell("b1")
    assert not list(dialogues.finished())
    assert third.asked[1:] == ["b2"]
    third.tell("b2")
    assert [verdict.detail for _, verdict in dialogues.finished()] == ["b"]
