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
from typing import Final

from conformance.qualification.auto.corpus import AutoMutant
from conformance.qualification.auto.equivalent_survivors import read_reasons
from conformance.qualification.auto.outcome import Row, row_of
from conformance.qualification.auto.running.differences import Kill, Seen
from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.auto.source.changes import Change
from conformance.qualification.auto.source.reach import numbers
from conformance.qualification.frozen.making import frozen_observations
from conformance.qualification.frozen.observation import FrozenObservation
from conformance.qualification.frozen.survey import Ground, surveyed
from conformance.qualification.frozen.verdicts import FrozenVerdict, changed_judge

LONGEST: Final = 60.0
"""Seconds of the processor that one observation may take: of the unchanged judge the longest takes two."""

SECONDS: Final = 120.0
"""Seconds of the processor that one mutant may take."""

MOST_OBSERVATIONS: Final = 4_000
"""Observations that a mutant is held against, at most, of all that come to it."""

UNCHANGED: Final = "no verdict changed"
WORDS: Final = "only the words of details changed"


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
    mutant, reach = task
    assert isinstance(mutant.made, Change)
    count, differs, words, began = 0, False, False, time.process_time()
    try:
        with changed_judge(mutant.made) as (judge, _):
            for place, number in enumerate(reach):
                if time.process_time() - began > SECONDS:
                    return Seen(cases=count, differs=differs, cut=True), "there was no time for all observations"
                at.come_to(place)
                frozen, right = ground.observations[number], ground.said[number]
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
        return Seen((Kill("judge", mutant.made.module, 0, type(error).__name__, "raises"),), count, differs=True), ""
    how = "clauses changed that hold nothing wrong" if differs else WORDS if words else UNCHANGED
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
