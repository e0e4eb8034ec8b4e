"""The order of pass 1: every part of a plan is drawn a little, then deeper, and what is claimed before what is not.

A part is what one suite draws for one operation. A time budget may end the run at any draw. What was asked by then has
something of every claimed operation, and lies within the claims but for a tenth. Claims say nothing of schedules: who
gives one for the plainest case is taken to claim them, so that they are judged while a backend works on other cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.claimed_share import NONE, Share
from conformance.runner.dialect import Trial
from conformance.runner.dialects import name_of, operations
from conformance.runner.draws import LONGEST, OUTSIDE, numbered
from conformance.runner.ids import Ids
from conformance.runner.origins import Origins
from conformance.runner.plan import Draws

DEPTHS: Final = (1, 3, 12, 48, 192)
"""Draws of each part after each turn but the last, which has all. The first draw of a part is the plainest."""

HOPEFUL: Final = 12
"""The depth from which a part without a case within the claims waits until all others are drawn: 36 draws for claims
that one draw of a hundred of determinism lies within find one in three parts of ten."""


class Offers(Protocol):
    """Where drawn cases go, and whether there is time for another."""

    backends: Sequence[BackendRun]
    late: Callable[[], bool]

    def meaning(self, case: Any, suite: str, name: str) -> Trial | None:
        """Return a case with what it means; ``None`` for a draw that is no case."""

    def offer(self, one: Trial, origin: int, to: Sequence[BackendRun]) -> None:
        """Offer a case that was drawn for all, once."""

    def offer_own(self, one: Trial, origin: int, backend: BackendRun) -> None:
        """Offer a case that was drawn for one backend, unless it was offered."""


@dataclass
class _Own:
    """The draws for one backend alone, by the words of its claims, which begin behind those for all."""

    share: Share
    draws: Draws
    origin_of: Callable[[int], int]
    made: Ids = field(default_factory=Ids)
    drawn: int = 0
    outside: int = 0

    def shows_claims(self) -> bool:
        """Return whether a case outside the claims may be offered, one of so many: they may be too small."""
        self.outside += (few := OUTSIDE * self.outside <= self.share.standings[True])
        return few


class SuiteDraws:
    """The draws of one suite for one operation, and how far they went."""

    def __init__(self, draws: Draws, offers: Offers, origins: Origins) -> None:
        """Have nothing drawn yet."""
        self.name = draws.name
        self.draws, self.done = draws, False
        self.claimed = any(draws.op in backend.scope.claims for backend in offers.backends)
        self._offers, self._seed = offers, origins.seed
        self._shares = [Share(backend, draws.asked(backend.examples)) for backend in offers.backends]
        self._most = max((share.examples for share in self._shares), default=draws.examples)
        self._distinct = draws.distinct if self._most == draws.examples else 0
        self._origin_of, self._met, self._common = origins.draws(draws), Ids(), 0
        self._dear = operations()[draws.op].dear
        self._own = [] if self._dear else [self._own_of(share, origins) for share in self._shares]

    def _own_of(self, share: Share, origins: Origins) -> _Own:
        own = replace(self.draws, limits=share.backend.scope.claims.get(self.draws.op, {}))
        return _Own(share, own, origins.draws(own))

    @property
    def examples(self) -> int:
        """Return how many draws it comes to, as far as that is known."""
        return self._common if self.done else self._most

    @property
    def drawn(self) -> int:
        """Return how many of them were made for all backends."""
        return self._common

    @property
    def beyond(self) -> bool:
        """Return whether nothing lies within the claims of any backend, now that it is done."""
        return self.done and not self._any

    @property
    def _any(self) -> bool:
        """Return whether something that was drawn lies within the claims of some backend."""
        return not self._shares or any(share.standings[True] for share in self._shares)

    def turn(self, depth: int | None) -> bool:
        """Draw what ``depth`` draws come to, or all; return whether there was time for it.

        Where fewer than a third of what was drawn for all lies within each backend's claims, each draws for itself.
        """
        depth = self._most if depth is None else min(depth, self._most)
        while self._wide and self._common < depth:
            if not self._draw(self._common + 1):
                return False
        if self._any:
            return self._draw_each(depth)
        return depth > HOPEFUL or (self._draw(self._few(depth)) and self._draw_each(depth))

    def rest(self) -> bool:
        """Draw what the turns left; return whether there was time. Of what lies within no claims a tenth is drawn.

        Where no backend draws for itself all is drawn: one draw of many may lie within the claims.
        """
        few = self._most if self._dear else self._few(self._most)
        found = self._any or (self._draw(few) and self._draw_each(self._most))
        if found and self._any:
            found = self._draw(self._most, self._distinct) and self._draw_each(None)
        self.done = found
        if found:
            self._let_go()
        return found

    def _let_go(self) -> None:
        """Forget which cases were drawn: nothing more is."""
        self._met = Ids()
        for own in self._own:
            own.made = Ids()

    @staticmethod
    def _few(depth: int) -> int:
        """Return how many draws are for all where most are not."""
        return max(depth // OUTSIDE, min(depth, DEPTHS[0]))

    @property
    def _wide(self) -> bool:
        """Return whether the draws for all are of use to some backend, or the only ones."""
        return self._dear or not self._shares or any(share.wide for share in self._shares)

    def _draw(self, until: int, distinct: int = 0) -> bool:
        """Draw for all backends up to a number, and until so many differ, within reason."""
        while self._common < until or (len(self._met) < distinct and self._common < LONGEST * until):
            if self._offers.late():
                return False
            self._offer(self._common)
            self._common += 1
        return True

    def _offer(self, number: int) -> None:
        """Offer one draw to all backends, or to those that are asked so many."""
        number += self.draws.first
        case, _ = numbered(self.draws.domain, self._seed, number)
        name = name_of(case)
        one = self._offers.meaning(case, self.draws.suite, name) if self._met.add(name) else None
        if one is None:
            return
        at = number - self.draws.first
        asked = [share for share in self._shares if share.examples == self.draws.examples or at < share.examples]
        made = {own.share.backend.name: own.made for own in self._own}
        for share in asked:
            again = share.backend.name in made and name in made[share.backend.name]
            share.add(one, common=at < self._most, again=again)
        self._offers.offer(one, self._origin_of(number), [share.backend for share in asked])

    def _draw_each(self, depth: int | None) -> bool:
        return all(self._draw_own(own, depth and min(depth, own.share.examples)) for own in self._own)

    def _draw_own(self, own: _Own, depth: int | None) -> bool:
        """Draw for one backend until a third of ``depth``, or of what all were given, is within its claims.

        Of what lies outside its claims it gets what was drawn without looking at them.
        """
        share = own.share
        target = share.common if depth is None or self._common >= depth else depth
        most = self.draws.examples * (LONGEST - 1) if depth is None else NONE * depth
        while own.drawn < most and not share.enough(own.drawn, target, depth or share.examples):
            if self._offers.late():
                return False
            number = self.draws.alone + own.drawn
            own.drawn += 1
            case, _ = numbered(own.draws.domain, self._seed, number, own.draws.limits)
            name = name_of(case)
            new = name not in self._met and own.made.add(name)
            one = self._offers.meaning(case, own.draws.suite, name) if new else None
            if one is not None and (share.add(one, common=False) or (not number % OUTSIDE and own.shows_claims())):
                self._offers.offer_own(one, own.origin_of(number), share.backend)
        return True


def drawn_in_turns(parts: Sequence[SuiteDraws]) -> Iterator[float]:
    """Draw all parts, those of claimed operations first; yield how much of it is done."""
    places = list(dict.fromkeys(part.draws.suite for part in parts))
    in_order = sorted(parts, key=lambda part: places.index(part.draws.suite))
    for part in in_order:
        if part.claimed and not part.turn(DEPTHS[0]):
            break
    yield _done(parts)
    turns = [
        (depth, part)
        for claimed in (True, False)
        for depth in (*DEPTHS, None)
        for part in in_order
        if part.claimed == claimed
    ]
    for depth, part in turns:
        if not part.turn(depth):
            break
        yield _done(parts)
    for part in parts:
        part.rest()
        yield _done(parts)


def _done(parts: Sequence[SuiteDraws]) -> float:
    return sum(part.drawn for part in parts) / max(sum(part.examples for part in parts), 1)
