"""How a company that does not hold is taken apart: by halves, by eighths where it hangs, at most three times."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Joint, Observation, RankError
from conformance.judging.verdict import Verdict
from conformance.runner.backend.inquiry import Inquiry, Meeting
from conformance.runner.backend.meetings import Meetings
from conformance.runner.dialect import Ask, Dialogue
from conformance.runner.worker.answers import Answer, Broken

ERROR = RankError(kind="RuntimeError", message="no", category="internal")


def dialogue(subject: Any, terms: Terms) -> Dialogue:
    """Ask once; what raises is errored, anything else passes."""
    del subject, terms
    result = (yield Ask(None)).result  # type: ignore[arg-type]  # nobody reads the request
    if isinstance(result, Broken):
        return Verdict(outcome=result.outcome, clauses={})
    return Verdict(outcome="errored" if result.raised else "passed", clauses={})


def member(name: str) -> Inquiry:
    """Return a case by its name."""
    dialect = SimpleNamespace(dialogue=dialogue, empty=lambda case: False)
    facts = SimpleNamespace(op=name, ops=(name,), dtype="int8")
    trial: Any = SimpleNamespace(name=name, case=None, subject=None, dialect=dialect, facts=facts)
    return Inquiry(trial, 0, dialogue(None, Terms()))


class Asked:
    """Companies under way, and what was asked."""

    def __init__(self, members: int) -> None:
        """Begin with one company."""
        self.meetings: list[Meeting] = []
        self.alone: list[str] = []
        self.whole = Meeting([member(f"c{at}") for at in range(members)])
        self.made = Meetings(self.meetings.append, lambda one: self.alone.append(one.trial.name), Terms, 0)

    def answer(self, meeting: Meeting, result: Any) -> list[str]:
        """Answer a company; return whom that settles."""
        return [one.trial.name for one in self.made.answered(meeting, Answer(result))]

    def tell(self, name: str, outcome: Any) -> list[str]:
        """Tell the verdict on a case alone; return whom that settles."""
        one = next(each for each in self.whole.members if each.trial.name == name)
        return [each.trial.name for each in self.made.told(one, Verdict(outcome=outcome, clauses={}))]

    @property
    def sizes(self) -> list[int]:
        """Return how many are in the companies that are asked about."""
        return [len(meeting.members) for meeting in self.meetings]


def holding(meeting: Meeting, *wrong: str) -> Joint:
    """Return an answer in which all hold but the ``wrong``."""
    seen = [Observation(errors=(ERROR,) * (one.trial.name in wrong)) for one in meeting.members]
    return Joint(together=tuple(seen))


def test_a_company_that_raises_is_halved_and_one_that_hangs_is_cut_into_eighths() -> None:
    raising, hanging = Asked(9), Asked(64)
    raising.answer(raising.whole, Observation(errors=(ERROR,)))
    assert raising.sizes == [5, 4]
    hanging.answer(hanging.whole, Broken("timeout", "no answer"))
    assert hanging.sizes == [8] * 8


def test_after_three_processes_that_ended_each_case_stands_alone() -> None:
    asked = Asked(16)
    for size in (16, 8, 4):
        meeting = asked.whole if size == 16 else next(one for one in asked.meetings if len(one.members) == size)
        asked.answer(meeting, Broken("crashed", "it ended"))
    assert sorted(asked.alone) == ["c0", "c1", "c2", "c3"]


def test_only_those_whose_results_do_not_hold_are_asked_alone_and_no_doubt_is_left_where_they_fail() -> None:
    asked = Asked(3)
    settled = asked.answer(asked.whole, holding(asked.whole, "c1"))
    assert {*settled, *asked.alone} == {"c0", "c1", "c2"}
    assert "c1" in asked.alone
    assert asked.tell("c1", "errored") == ["c1"]
    assert not asked.meetings


def test_one_that_fails_in_company_and_holds_alone_is_asked_in_the_same_company_once_more() -> None:
    asked = Asked(3)
    asked.answer(asked.whole, holding(asked.whole, "c1"))
    assert asked.tell("c1", "passed") == []
    (again,) = asked.meetings
    assert asked.answer(again, holding(again, "c1")) == ["c1"]
    company = asked.whole.members[1].company
    assert company
    assert (company.outcome, company.times, company.cases) == ("errored", 2, ("c0", "c1", "c2"))


def test_a_half_that_explains_the_whole_leaves_no_doubt_of_it() -> None:
    asked = Asked(4)
    asked.answer(asked.whole, Broken("crashed", "it ended"))
    left, right = asked.meetings
    assert asked.answer(left, holding(left)) == []
    asked.answer(right, Broken("crashed", "it ended"))
    assert asked.alone == ["c2", "c3"]
    assert asked.tell("c2", "crashed") == []
    assert sorted(asked.tell("c3", "passed")) == ["c0", "c1", "c2", "c3"]
    assert len(asked.meetings) == 2


def test_where_the_time_budget_is_spent_nobody_is_asked_again() -> None:
    asked = Asked(4)
    assert len(asked.answer(asked.whole, Broken("not_run", "the time budget was spent"))) == 4
    assert {one.judged and one.judged.outcome for one in asked.whole.members} == {"not_run"}
    assert (asked.meetings, asked.alone) == ([], [])


def test_what_is_like_a_refused_case_is_not_asked_in_company_again() -> None:
    asked = Asked(2)
    asked.answer(asked.whole, holding(asked.whole, "c1"))
    asked.tell("c1", "errored")
    assert [asked.made.welcome(one.trial) for one in asked.whole.members] == [True, False]
