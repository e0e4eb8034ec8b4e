"""The deck in a run: asked first, in the order that is best for each backend, and which of its cases were judged."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final, Protocol

from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.dialect import Trial
from conformance.runner.dialects import trial
from conformance.runner.dialects.schedule import ScheduleSubject
from conformance.runner.origins import Origins
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.plan import Plan
from conformance.runner.records.origin import of_deck
from conformance.runner.records.record import CaseRecord
from conformance.vectors.best_order import best_order
from conformance.vectors.deck import Deck, FrozenCase, check_meaning, deck
from conformance.vectors.deck_error import DeckError, NothingLeftError
from conformance.vectors.power import Power, deck_kills, power

KEPT: Final = 256
"""Cases whose meaning is kept for backends that come to them later: those of several backends are much alike."""


class Offers(Protocol):
    """Where cases go, and whether there is time for another."""

    late: Callable[[], bool]

    def referring(self) -> AbstractContextManager[None]:
        """Count the time within as time of the reference."""

    def offer_own(self, one: Trial, origin: int, backend: BackendRun) -> None:
        """Offer a case to one backend, unless it was offered."""


@dataclass
class JudgedDeckCases:
    """The cases of the deck that came to a verdict, by backend: of a million drawn ones nothing is kept."""

    names: Mapping[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _decked: frozenset[str] = field(default_factory=lambda: frozenset(deck_kills().cases))

    def heed(self, record: object) -> None:
        """Take a record of the log into account, in place of an earlier one of the same case."""
        if not isinstance(record, CaseRecord) or record.case not in self._decked:
            return
        if record.outcome in UNJUDGED:
            self.names[record.backend].discard(record.case)
        else:
            self.names[record.backend].add(record.case)

    def power(self, backend: BackendRun) -> Power:
        """Return what the cases that one backend was judged on can see of its claims."""
        return power(backend.scope.claims, self.names[backend.name])


def offer_deck(
    orders: Sequence[Sequence[int]], offers: Offers, backends: Sequence[BackendRun], origins: Origins
) -> Iterator[float]:
    """Offer each backend its cases of the deck, by number; yield how much of that is done, 1.0 at the end.

    Raise ``DeckError`` where a case no longer means what its digest says. It ends before 1.0 where there is no time
    left.
    """
    frozen = deck()
    meanings = _Meanings(frozen)
    most = max(map(len, orders), default=0)
    for place, row in enumerate(zip_longest(*orders)):
        for backend, number in zip(backends, row, strict=True):
            if number is None:
                continue
            if offers.late():
                return
            with offers.referring():
                one = meanings.of(number)
            named = of_deck(frozen.cases[number].origin)
            offers.offer_own(one, origins.keep(one.case, one.suite, named), backend)
        yield (place + 1) / (most + 1)
    yield 1.0


def orders_of(plan: Plan, backends: Sequence[BackendRun]) -> list[list[int]]:
    """Return the numbers of the cases of the deck that each backend is asked, in order.

    One whose claims leave none, of the suites and operations of the plan, gets none, unless nothing else is asked:
    then ``NothingLeftError`` is raised.
    """
    return [_order(plan, deck(), backend) for backend in backends]


def _order(plan: Plan, frozen: Deck, backend: BackendRun) -> list[int]:
    try:
        order = best_order(frozen, backend.scope.claims, plan.suites, plan.ops)[: plan.deck]
    except NothingLeftError:
        if plan.explores:
            return []
        raise
    at, of = plan.slice or (1, 1)
    return order[at - 1 :: of]


class _Meanings:
    """What the cases of the deck mean, each held against its digest."""

    def __init__(self, frozen: Deck) -> None:
        self._deck = frozen
        self._known: OrderedDict[int, Trial] = OrderedDict()

    def of(self, number: int) -> Trial:
        if number not in self._known:
            self._known[number] = meant(self._deck.cases[number])
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
        return self._known[number]


def meant(one: FrozenCase) -> Trial:
    """Return a case of the deck with what it means; raise ``DeckError`` where that is not what its digest says."""
    try:
        found = trial(one.case, one.suite, one.name)
    except ValueError as error:
        raise DeckError(f"case {one.name} of the deck is malformed now: {error}") from error
    if found is None:
        raise DeckError(f"case {one.name} of the deck has no meaning now")
    check_meaning(one, found.subject.graph if isinstance(found.subject, ScheduleSubject) else found.subject)
    return found


def decked_case(name: str) -> Any | None:
    """Return the case of the deck with this id; ``None`` where the deck has none."""
    return next((each.case for each in deck().cases if each.name == name), None)
