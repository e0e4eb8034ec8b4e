"""Changes of the judge, each held against what was frozen: right answers are not refused, nor wrong ones held.

A mutant dies where it breaks a clause on a right answer, or holds one that a wrong answer breaks; and where it blames
another clause, has another clause speak or be silent, tells other classes or words of numbers, or raises. Nothing but
the judge is run.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Final

from msgspec.structs import replace

from conformance.qualification.auto.corpus import AutoMutant
from conformance.qualification.auto.equivalent_survivors import read_reasons
from conformance.qualification.auto.outcome import Row, row_of
from conformance.qualification.auto.running.differences import Kill, Seen
from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.auto.source.changes import Change
from conformance.qualification.auto.source.reach import numbers
from conformance.qualification.frozen.making import frozen_observations
from conformance.qualification.frozen.neighbours import every_neighbour
from conformance.qualification.frozen.observation import FrozenObservation
from conformance.qualification.frozen.survey import Ground, surveyed
from conformance.qualification.frozen.verdicts import NEEDED, FrozenVerdict, Judge, changed_judge

LONGEST: Final = 60.0
"""Seconds of the processor that one observation may take: of the unchanged judge the longest takes two."""

SECONDS: Final = 120.0
"""Seconds of the processor that one mutant may take."""

MOST_OBSERVATIONS: Final = 4_000
"""Observations that a mutant is held against, at most, of all that come to it."""

BESIDE: Final = 60
OF_EACH: Final = 40
"""Of how many observations more neighbours are made where none of those tells a mutant, and about how many of each."""

UNCHANGED: Final = "no verdict changed"
DIFFERING: Final = "clauses changed that hold nothing wrong"
NO_TIME: Final = "there was no time for all observations"
WORDS: Final = "only the words of details changed"
HOW: Final = (UNCHANGED, WORDS, DIFFERING, NO_TIME, "")
"""What is said of a mutant, the least first; a kill says for itself."""


def judged_by_observations(
    mutants: Sequence[AutoMutant], tell: Callable[[str], None], jobs: int = 0
) -> tuple[str, Iterator[Row]]:
    """Return what of the unchanged judge is not as it should be, if anything is, and the rows, as they end."""
    changes = [mutant.made for mutant in mutants if isinstance(mutant.made, Change)]
    ground = surveyed(frozen_observations(tell, jobs=jobs), changes, tell, jobs=jobs)
    return ground.control, _rows(mutants, ground, jobs)


def _rows(mutants: Sequence[AutoMutant], ground: Ground, jobs: int) -> Iterator[Row]:
    reasons = read_reasons()
    tasks = []
    for mutant in mutants:
        reach = _reach(mutant, ground)
        if reach:
            tasks.append((mutant, reach))
        else:
            yield row_of(mutant, "not_reached", Seen())
    for (mutant, reach), made in in_children(tasks, partial(_held_against, ground), jobs=jobs, cpu=LONGEST):
        if isinstance(made, Ended):
            each = ground.observations[reach[max(made.at, 0)]]
            seen = Seen((_kill(each, reach[max(made.at, 0)], made.how, "raises"),), cases=max(made.at, 0) + 1)
            yield row_of(mutant, "killed", seen, reach=len(reach))
            continue
        seen, said = made
        if seen.kills:
            yield row_of(mutant, "killed", seen, reach=len(reach))
        elif not seen.differs and (mutant.digest in reasons or said == WORDS):
            yield row_of(mutant, "equivalent", seen, reach=len(reach), reason=reasons.get(mutant.digest, said))
        else:
            yield row_of(mutant, "survived", seen, reach=len(reach), reason=said)


def _reach(mutant: AutoMutant, ground: Ground) -> list[int]:
    """Return the observations that a mutant is held against, the most different ones first.

    Of those that come to the change one of each kind is taken after the other: who answered, about what, what was
    altered, and what the unchanged judge says broken. Of a kind the quick ones come first.
    """
    assert isinstance(mutant.made, Change)
    met = ground.shown & (ground.came.get(mutant.digest, 0) if mutant.made.below else -1)
    kinds: dict[tuple[object, ...], list[int]] = {}
    for number in sorted(numbers(met), key=lambda number: ground.seconds[number]):
        each = ground.observations[number]
        kind = (each.right, each.suite, each.op, each.altered or each.right or each.by, ground.said[number].broken)
        kinds.setdefault(kind, []).append(number)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*kinds.values()))
    return [number for number in turns if number is not None][:MOST_OBSERVATIONS]


def _held_against(ground: Ground, task: tuple[AutoMutant, list[int]], at: At) -> tuple[Seen, str]:
    """Return what becomes of a mutant; where nothing tells it, it is asked of more neighbours of what comes to it."""
    mutant, reach = task
    assert isinstance(mutant.made, Change)
    listed = [(place, ground.observations[number], ground.said[number]) for place, number in enumerate(reach)]
    first, how = _asked(mutant.made, reach, listed, at)
    if first.kills or first.cut:
        return first, how
    second, more = _asked(mutant.made, reach, list(_beside(listed, at)), at)
    differs = first.differs or second.differs
    seen = Seen(second.kills, first.cases + second.cases, differs=differs, cut=second.cut)
    return seen, max(how, more, key=HOW.index)


Listed = list[tuple[int, FrozenObservation, FrozenVerdict]]
"""Observations with what the unchanged judge says, each with its place, or that of what it is a neighbour of."""


def _beside(listed: Listed, at: At) -> Iterator[tuple[int, FrozenObservation, FrozenVerdict]]:
    """Yield neighbours of the first observations that come to a change: what is rarely come to had few."""
    judge, began = Judge(*map(import_module, NEEDED)), time.process_time()
    for place, frozen, _ in listed[:BESIDE]:
        at.come_to(place)
        for each in every_neighbour(frozen, OF_EACH):
            if time.process_time() - began > SECONDS / 4:
                return
            said = judge.say(each)
            yield place, replace(each, right=not said.broken), said


def _asked(change: Change, reach: Sequence[int], listed: Listed, at: At) -> tuple[Seen, str]:
    count, differs, words, began = 0, False, False, time.process_time()
    try:
        with changed_judge(change) as (judge, _):
            for place, frozen, right in listed:
                if time.process_time() - began > SECONDS:
                    return Seen(cases=count, differs=differs, cut=True), NO_TIME
                at.come_to(place)
                number = reach[place]
                try:
                    said = judge.say(frozen)
                except Exception as error:  # noqa: BLE001 - whatever a changed judge raises is how it dies
                    kill = _kill(frozen, number, type(error).__name__, "raises")
                    return Seen((kill,), count + 1, differs=True), ""
                count += 1
                differs |= said.plain != right.plain
                words |= said != right
                told = _told(frozen, said, right)
                if told is not None:
                    return Seen((_kill(frozen, number, *told),), count, differs=True), ""
    except Exception as error:  # noqa: BLE001 - as above, as it is imported
        return Seen((Kill("judge", change.module, 0, type(error).__name__, "raises"),), count, differs=True), ""
    how = DIFFERING if differs else WORDS if words else UNCHANGED
    return Seen(cases=count, differs=differs), how


def _told(frozen: FrozenObservation, said: FrozenVerdict, right: FrozenVerdict) -> tuple[str, str] | None:
    """Return the clause that tells a changed judge from the unchanged one, and how, if one does."""
    if frozen.right and said.broken - right.broken:
        return min(said.broken - right.broken), "refuses"
    if not frozen.right and right.broken - said.broken:
        return min(right.broken - said.broken), "holds"
    if said.outcome != right.outcome:
        return said.blame or right.blame or said.outcome, "ends otherwise"
    if said.blame != right.blame:
        return said.blame or right.blame, "blames"
    if said.clauses != right.clauses:
        return min(name for name, _ in said.clauses.items() ^ right.clauses.items()), "speaks"
    return (right.blame or min(right.clauses, default=""), "tells") if said.told != right.told else None


def _kill(frozen: FrozenObservation, number: int, clause: str, how: str) -> Kill:
    return Kill(frozen.suite, frozen.op, number, clause, how)
