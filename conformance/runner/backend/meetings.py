"""Companies under way: what their answers settle, how one that does not hold is taken apart, and who is to blame.

A case whose result in company does not hold is asked about alone, and that is its verdict. A company that fails as a
whole or breaks its process is halved until a case stands alone; one that hangs is cut into eighths, for each part that
hangs costs a whole limit. Where everybody whom a company was taken apart into holds, it is asked once more: what comes
back is a finding about company.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Joint, Observation
from conformance.judging.verdict import Verdict
from conformance.runner.backend.conversation import advanced
from conformance.runner.backend.inquiry import Doubt, Inquiry, Meeting
from conformance.runner.dialect import Dialogue, Trial
from conformance.runner.outcomes import ENDING
from conformance.runner.records.company import Company
from conformance.runner.worker.answers import Answer, Broken

KILLS: Final = 3
"""Processes that a company and its parts may end before each of its cases is asked about alone."""

SAMPLE: Final = 0.1
"""The part of the cases settled in company that is asked about alone as well."""

HALVES: Final = 2
EIGHTHS: Final = 8

UNASKED: Final = "not_run"


class Meetings:
    """Takes answers to companies, and verdicts on members that stand alone."""

    def __init__(
        self, ask: Callable[[Meeting], None], alone: Callable[[Inquiry], None], terms: Callable[[], Terms], seed: int
    ) -> None:
        """Hand companies to ``ask`` and cases to ``alone``; ``seed`` decides which are asked about alone as well."""
        self._ask, self._alone, self._terms, self._seed = ask, alone, terms, seed
        self._refused: set[tuple[tuple[str, ...], str, bool]] = set()
        """What refused cases have alike: cases like them would take their company apart."""
        self._hiding: set[str] = set()
        """Operations of which company hid a case."""

    def welcome(self, one: Trial) -> bool:
        """Return whether a case is asked about in company, as far as earlier ones tell."""
        return one.facts.op not in self._hiding and _kind(one) not in self._refused

    def answered(self, meeting: Meeting, answer: Answer) -> Iterator[Inquiry]:
        """Yield the members that an answer settles, with their verdicts."""
        if meeting.again is not None:
            yield from self._repeated(meeting, answer)
        elif isinstance(answer.result, Joint):
            yield from self._judged(meeting, answer, answer.result)
        elif answer.broken is not None and answer.broken.outcome == UNASKED:
            yield from self._unasked(meeting, answer)
        else:
            self._part(meeting, answer)

    def told(self, inquiry: Inquiry, judged: Verdict) -> Iterator[Inquiry]:
        """Take the verdict on a member that was asked about alone; yield those that it settles."""
        meeting = inquiry.meeting
        assert meeting is not None
        if meeting.sample:
            yield self._compared(inquiry, judged)
            return
        inquiry.judged = judged
        if judged.outcome not in ("passed", "failed", UNASKED):
            self._refused.add(_kind(inquiry.trial))
        place = meeting.members.index(inquiry)
        meeting.root.held.append(inquiry)
        if judged.outcome != "passed":
            meeting.explained = True
        elif place in meeting.verdicts:
            meeting.root.doubts.append(Doubt(meeting, place, meeting.verdicts[place]))
        yield from self._done(meeting)

    def _judged(self, meeting: Meeting, answer: Answer, seen: Joint) -> Iterator[Inquiry]:
        """Settle the members whose results hold, and leave the others alone."""
        good: list[Inquiry] = []
        for place, (member, observation) in enumerate(zip(meeting.members, seen.together, strict=True)):
            told = Answer(observation, process=answer.process)
            verdict = self._verdict(member, told)
            if verdict.outcome == "passed":
                member.answers, member.judged = [told], verdict
                member.company = Company(of=len(meeting.members))
                good.append(member)
            else:
                meeting.verdicts[place] = verdict
        meeting.open = len(meeting.verdicts)
        for member in good:
            yield from self._settled(meeting, member)
        for place in list(meeting.verdicts):
            self._leave(meeting, meeting.members[place])
        if not meeting.verdicts and meeting.whole is not None:
            yield from self._closed(meeting)

    def _settled(self, meeting: Meeting, member: Inquiry) -> Iterator[Inquiry]:
        """Hand on a member, hold it where the whole is not done, or ask about it alone as well."""
        if meeting.whole is not None:
            meeting.root.held.append(member)
        elif Random(f"{self._seed} {member.trial.name}").random() < SAMPLE:  # noqa: S311 - a sample, and no secret
            assert member.judged is not None
            one = Meeting([member], sample=True, verdicts={0: member.judged})
            self._leave(one, member, of=len(meeting.members))
        else:
            yield member

    def _compared(self, member: Inquiry, judged: Verdict) -> Inquiry:
        """Return a member of the sample; where company hid what it does, its operation is asked alone from now on."""
        assert member.meeting is not None
        assert member.company is not None
        in_company = member.meeting.verdicts[0]
        if judged.outcome == UNASKED:
            member.judged, member.company = in_company, replace(member.company, alone=False)
        else:
            member.judged = judged
            if judged.outcome != in_company.outcome:
                self._hiding.add(member.trial.facts.op)
                member.company = replace(member.company, outcome=in_company.outcome, detail="it hid what the case does")
        return member

    def _unasked(self, meeting: Meeting, answer: Answer) -> Iterator[Inquiry]:
        """Hand on all members as what they are: nobody was asked."""
        for member in meeting.members:
            member.answers, member.judged = [answer], self._verdict(member, answer)
            meeting.root.held.append(member)
        meeting.explained = True
        yield from self._closed(meeting)

    def _part(self, meeting: Meeting, answer: Answer) -> None:
        """Take a company apart that failed as a whole."""
        meeting.broke = self._verdict(meeting.members[0], self._shared(meeting, answer))
        kills = meeting.kills + (meeting.broke.outcome in ENDING)
        count = EIGHTHS if meeting.broke.outcome == "timeout" else HALVES
        parts = _parts(meeting.members, len(meeting.members) if kills >= KILLS else count)
        meeting.open = len(parts)
        for part in parts:
            if len(part) == 1:
                self._leave(meeting, part[0])
            else:
                self._ask(Meeting(part, whole=meeting, kills=kills))

    def _done(self, meeting: Meeting) -> Iterator[Inquiry]:
        meeting.open -= 1
        if meeting.open == 0:
            yield from self._closed(meeting)

    def _closed(self, meeting: Meeting) -> Iterator[Inquiry]:
        """Take note that all parts and members of a company are judged."""
        if meeting.broke is not None and not meeting.explained:
            meeting.root.doubts.append(Doubt(meeting, 0, meeting.broke))
            meeting.explained = True
        if meeting.whole is not None:
            meeting.whole.explained |= meeting.explained or bool(meeting.verdicts)
            yield from self._done(meeting.whole)
        elif meeting.doubts:
            asked = list(dict.fromkeys(doubt.meeting for doubt in meeting.doubts))
            meeting.open = len(asked)
            for each in asked:
                self._ask(Meeting(each.members, whole=meeting, again=each))
        else:
            yield from meeting.held

    def _repeated(self, meeting: Meeting, answer: Answer) -> Iterator[Inquiry]:
        """Hold what a company came to once more against what it came to first."""
        root, seen = meeting.root, answer.result
        for doubt in root.doubts:
            if doubt.meeting is meeting.again:
                member = meeting.members[doubt.place]
                one = isinstance(seen, Joint)
                told = Answer(seen.together[doubt.place]) if isinstance(seen, Joint) else self._shared(meeting, answer)
                whole = doubt.meeting.broke is not None
                same = whole != one and self._verdict(member, told).outcome == doubt.verdict.outcome
                doubt.times += same
                _record(doubt)
        root.open -= 1
        if root.open == 0:
            yield from root.held

    def _leave(self, meeting: Meeting, member: Inquiry, of: int = 0) -> None:
        """Ask about a member alone."""
        member.company = Company(of=of or len(meeting.members), alone=True)
        member.meeting, member.answers, member.judged = meeting, [], None
        member.dialogue = self._dialogue(member)
        self._alone(member)

    def _verdict(self, member: Inquiry, answer: Answer) -> Verdict:
        """Return what a member comes to by an answer, in a dialogue of one question."""
        dialogue = self._dialogue(member)
        next(dialogue)
        found = advanced(dialogue, answer)
        if isinstance(found, Verdict):
            return found
        return Verdict(outcome="failed", clauses={}, detail="it is asked about more than once, which no company is")

    def _dialogue(self, member: Inquiry) -> Dialogue:
        return member.trial.dialect.dialogue(member.trial.subject, self._terms())

    @staticmethod
    def _shared(meeting: Meeting, answer: Answer) -> Answer:
        """Return the answer as if it was about the first member alone: its error is that of every rank."""
        seen = answer.result
        if isinstance(seen, Broken):
            return answer
        case = meeting.members[0].trial.case
        ranks = case.program.world if isinstance(case, Case) else 1
        return Answer(Observation(errors=seen.errors[:1] * ranks, seconds=seen.seconds), process=answer.process)


def _record(doubt: Doubt) -> None:
    """Have the record of a member say what its company came to."""
    member, meeting = doubt.meeting.members[doubt.place], doubt.meeting
    member.company = Company(
        of=len(meeting.members),
        alone=True,
        outcome=doubt.verdict.outcome,
        detail=doubt.verdict.detail,
        cases=meeting.names,
        times=doubt.times,
    )


def _parts(members: list[Inquiry], count: int) -> list[list[Inquiry]]:
    """Return members in at most so many parts of about one size."""
    size = -(-len(members) // min(count, len(members)))
    return [members[at : at + size] for at in range(0, len(members), size)]


def _kind(one: Trial) -> tuple[tuple[str, ...], str, bool]:
    """Return what cases have alike that are refused for one reason, mostly."""
    return one.facts.ops, one.facts.dtype, one.dialect.empty(one.case)
