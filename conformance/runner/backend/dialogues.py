"""The dialogues under way with one backend: each case is asked about until its verdict is known."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.backends.protocol import Kind
from conformance.backends.released_memory import ReleasedMemory
from conformance.cases.case import Case
from conformance.judging.verdict import Verdict
from conformance.runner.backend.conversation import advanced
from conformance.runner.backend.gathering import Gathering
from conformance.runner.backend.inquiry import Inquiry, Meeting
from conformance.runner.backend.meetings import Meetings
from conformance.runner.clock import Clock
from conformance.runner.dialect import Ask
from conformance.runner.worker.answers import Answer, Company
from conformance.runner.worker.interface import Judgeable


@dataclass
class _Lane:
    """The cases of a dialect of which a process is asked about one at a time, and the two workers that they go to.

    Of what is ``under_way`` the verdicts come in the order of the cases; ``held`` back is what has no process yet.
    The second worker takes every second case once it has answered anything (``both``).

    Beside cases of other dialects the two are ``apart`` from their worker once a second process answers: it may be
    that a device serves one process alone.
    """

    workers: tuple[Judgeable, Judgeable]
    under_way: deque[Inquiry] = field(default_factory=deque)
    held: deque[Inquiry] = field(default_factory=deque)
    both: bool = False
    apart: bool = False

    def free(self) -> tuple[Judgeable, Judgeable] | None:
        """Return the worker to ask about another case, and the one to ask elsewhere; ``None`` where all are busy."""
        taken = [each.workers[0] for each in self.under_way if each.judged is None]
        pairs = (self.workers, self.workers[::-1])[: 1 + self.both]
        return next((pair for pair in pairs if pair[0] not in taken), None)

    def heard(self, worker: Judgeable, *, sound: bool, apart: bool) -> None:
        """Take note of an answer: once the second worker gives a ``sound`` one, two ``apart`` from the first go on."""
        if worker is not self.workers[1]:
            return
        if sound and apart and not self.apart:
            self.workers, self.apart = (worker, worker.sibling()), True
        self.both = sound


class Dialogues:
    """Hands requests to the workers of a backend, and answers back to who asked.

    A dialect of which a process is asked about one case at a time has two processes: one case is judged while the
    backend works on another. None waits behind cases of other dialects once both processes are its own. Their
    verdicts come in the order of the cases all the same.
    """

    def __init__(
        self, worker: Judgeable, clock: Clock, name: str = "", most: Mapping[Kind, int] | None = None, seed: int = 0
    ) -> None:
        """Ask ``worker``; ``clock`` is told when answers are judged, and the ``name`` of the backend.

        As many cases of each kind as ``most`` says are asked about together; ``seed`` decides which alone as well.
        """
        self._worker, self._clock, self._name = worker, clock, name
        self._workers = [worker]
        self._asked: dict[tuple[int, int], Inquiry] = {}
        """What has no answer yet, by the place of its worker among ``workers`` and by ticket."""
        self._lanes: dict[str, _Lane] = {}
        self._gathering: Gathering[Inquiry] = Gathering(most or {})
        self._meetings = Meetings(self._meet, self._stand, lambda: worker.ready.terms, seed)
        self._met: dict[int, Meeting] = {}
        """The companies that have no answer yet, by ticket of the first worker."""
        self._members: dict[int, Inquiry] = {}
        """What may be asked about in company and has no verdict yet, by identity."""
        self._others = False
        """Whether anything was asked that is not asked one at a time."""
        self._bytes = 0
        self._freed = ReleasedMemory()

    @property
    def workers(self) -> tuple[Judgeable, ...]:
        """Return the worker, and the others of the same backend that something was asked of."""
        return tuple(self._workers)

    @property
    def outstanding(self) -> int:
        """Return how many cases were handed over and have no verdict."""
        alone = sum(id(inquiry) not in self._members for inquiry in self._asked.values())
        return alone + len(self._members) + sum(len(lane.held) for lane in self._lanes.values())

    @property
    def asked(self) -> int:
        """Return how many cases a question is about that has no answer yet."""
        return len(self._asked) + sum(len(meeting.members) for meeting in self._met.values())

    @property
    def owing(self) -> bool:
        """Return whether a case has no verdict that is owed."""
        held = (inquiry for lane in self._lanes.values() for inquiry in lane.held)
        return (
            any(inquiry.owed for inquiry in self._members.values())
            or any(inquiry.owed for inquiry in self._asked.values())
            or any(inquiry.owed for inquiry in held)
        )

    @property
    def bytes(self) -> int:
        """Return the bytes of blocks that the cases without a verdict have."""
        return self._bytes if self.outstanding else 0

    def begin(self, inquiry: Inquiry) -> None:
        """Ask the first about a case, or hold it back while as many of its dialect are asked about as may be."""
        self._bytes += _bytes_of(inquiry.trial.case)
        if not inquiry.trial.dialect.one_at_a_time:
            self._others = True
            if not self._gathers(inquiry):
                self._stand(inquiry)
            return
        lane = self._lane(inquiry)
        lane.held.append(inquiry)
        self._go_on(lane)

    def gathered(self) -> None:
        """Let no case wait for company any longer: nothing more is handed over for now."""
        for members in self._gathering.all():
            self._meet(Meeting(members))

    def waited(self) -> None:
        """Let no case wait for company while nothing is asked: who waits for an answer now would wait for ever."""
        if not self.asked:
            self.gathered()

    def _gathers(self, inquiry: Inquiry) -> bool:
        """Return whether a case waits for company, or was asked about in it."""
        one = inquiry.trial
        plain = inquiry.outside is None and not inquiry.again
        of = one.dialect.company(one.subject) if plain and self._gathering.gathers else None
        if of is None or not self._gathering.takes(of) or not self._meetings.welcome(one):
            return False
        self._members[id(inquiry)] = inquiry
        for members in self._gathering.add(of, inquiry):
            self._meet(Meeting(members))
        return True

    def _meet(self, meeting: Meeting) -> None:
        """Ask about a company; about one case alone."""
        if len(meeting.members) == 1 and meeting.whole is None:
            self._stand(meeting.members[0])
        else:
            cases = tuple(member.trial.case for member in meeting.members)
            self._met[self._worker.submit(Company(cases))] = meeting

    def _stand(self, inquiry: Inquiry) -> None:
        """Ask about a case alone."""
        inquiry.workers = (self._worker, self._worker.sibling())
        self._submit(inquiry, next(inquiry.dialogue))

    def _lane(self, inquiry: Inquiry) -> _Lane:
        """Return the lane of a case, which begins with the first of its dialect."""
        name = inquiry.trial.dialect.name
        if name not in self._lanes:
            self._lanes[name] = _Lane((self._worker, self._worker.sibling()))
        return self._lanes[name]

    def _go_on(self, lane: _Lane) -> None:
        """Ask the first about what is held back, as long as a process is free."""
        while lane.held and (workers := lane.free()) is not None:
            inquiry = lane.held.popleft()
            inquiry.workers = workers
            lane.under_way.append(inquiry)
            self._submit(inquiry, next(inquiry.dialogue))

    def finished(self) -> Iterator[tuple[Inquiry, Verdict]]:
        """Hand on every answer that has come; yield the cases whose verdicts are known by it."""
        for place, worker in enumerate(self.workers):
            for ticket, answer in worker.poll(0.0):
                if place == 0 and ticket in self._met:
                    yield from self._handed(self._answered(self._met.pop(ticket), answer))
                    continue
                inquiry = self._asked.pop((place, ticket))
                lane = self._lanes.get(inquiry.trial.dialect.name)
                if lane is not None:
                    lane.heard(worker, sound=answer.broken is None, apart=self._others)
                inquiry.judged = self._told(inquiry, answer)
                if inquiry.judged is not None and inquiry.meeting is not None:
                    yield from self._handed(self._meetings.told(inquiry, inquiry.judged))
                elif inquiry.judged is not None:
                    yield from self._settled(inquiry, lane)
                del inquiry, answer
                if lane is not None:
                    self._go_on(lane)

        if not self._asked and not self._met:
            for members in self._gathering.idle():
                self._meet(Meeting(members))

    def _answered(self, meeting: Meeting, answer: Answer) -> Iterator[Inquiry]:
        """Judge the answer to a company."""
        with self._clock.phase("judging"):
            return iter(list(self._meetings.answered(meeting, answer)))

    def _handed(self, members: Iterator[Inquiry]) -> Iterator[tuple[Inquiry, Verdict]]:
        """Yield members of companies with their verdicts."""
        for member in members:
            yield from self._settled(member, None)

    def _settled(self, inquiry: Inquiry, lane: _Lane | None) -> Iterator[tuple[Inquiry, Verdict]]:
        """Yield a case with its verdict, or, where their order matters, all whose turn has come."""
        under_way = deque([inquiry]) if lane is None else lane.under_way
        while under_way and under_way[0].judged is not None:
            inquiry = under_way.popleft()
            size = _bytes_of(inquiry.trial.case)
            self._bytes -= size
            self._members.pop(id(inquiry), None)
            assert inquiry.judged is not None
            yield inquiry, inquiry.judged
            del inquiry
            self._freed.add(size)

    def cancel(self) -> list[Inquiry]:
        """Give up what has no verdict, and return it."""
        for worker in self.workers:
            worker.cancel()
        lanes = self._lanes.values()
        judged = [each for lane in lanes for each in lane.under_way if each.judged is not None]
        asked = [inquiry for inquiry in self._asked.values() if id(inquiry) not in self._members]
        left = [*judged, *asked, *self._members.values(), *(each for lane in lanes for each in lane.held)]
        list(self._gathering.all())
        self._met.clear()
        self._members.clear()
        self._asked.clear()
        self._lanes.clear()
        self._bytes = 0
        return left

    def withdraw(self, op: str) -> list[Inquiry]:
        """Give up the cases of an operation that no process was asked about yet, and return them."""
        left: list[Inquiry] = []
        for (place, ticket), inquiry in list(self._asked.items()):
            alone = not inquiry.trial.dialect.one_at_a_time and inquiry.trial.facts.op == op and inquiry.meeting is None
            if alone and not inquiry.answers and self._workers[place].withdraw(ticket):
                left.append(self._asked.pop((place, ticket)))
        left += self._gathering.withdraw(lambda inquiry: inquiry.trial.facts.op == op)
        for inquiry in left:
            self._members.pop(id(inquiry), None)
        for lane in self._lanes.values():
            held = [inquiry for inquiry in lane.held if inquiry.trial.facts.op == op]
            lane.held = deque(inquiry for inquiry in lane.held if inquiry.trial.facts.op != op)
            left += held
        self._bytes -= sum(_bytes_of(inquiry.trial.case) for inquiry in left)
        return left

    def _submit(self, inquiry: Inquiry, ask: Ask) -> None:
        worker = inquiry.workers[ask.elsewhere]
        if worker not in self._workers:
            self._workers.append(worker)
        self._asked[self._workers.index(worker), worker.submit(ask.request)] = inquiry

    def _told(self, inquiry: Inquiry, answer: Answer) -> Verdict | None:
        """Tell a dialogue the answer; return its verdict, or ask what it wants to know next."""
        inquiry.answers.append(answer)
        with self._clock.phase("judging", self._name):
            ask = advanced(inquiry.dialogue, answer)
        if isinstance(ask, Verdict):
            return ask
        self._submit(inquiry, ask)
        return None


def _bytes_of(case: Any) -> int:
    """Return the bytes of the blocks of a program; those of other dialects are small."""
    return case.size if isinstance(case, Case) else 0
