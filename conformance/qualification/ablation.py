"""``python -m conformance.qualification.ablation``: what each layer of the drawing earns, alone and beside the deck.

Each layer makes cases until its share of processor time is spent: to make them, to ask the reference and to judge its
answer, which is the cost of a case to any run. Counted are the mutants that die of them, of those that the deck was
not chosen by, and of those that the whole deck leaves alive. Changed engines are held against the first cases of the
deck that cost as much, for the deck was asked about none.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, get_args

from conformance.generate.choices import Choice, Kind
from conformance.generate.deal import dealt
from conformance.qualification.deck.candidate import FAMILIES
from conformance.qualification.deck.candidates import NEVER, Costs
from conformance.qualification.deck.engine import changed_engines, failed_cases
from conformance.qualification.deck.every_mutant import every_mutant
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.other_cases import OtherCase
from conformance.runner.dialect import Trial
from conformance.runner.dialects import dialects, trial
from conformance.runner.draws import numbered
from conformance.vectors.deck import deck
from conformance.vectors.power import deck_kills

Case = tuple[str, Any]
"""A suite, and a case of it."""

MUTANTS: Final = 60
SECONDS: Final = 2.0
"""Seconds of a processor that a layer of a family may cost."""


@dataclass(frozen=True)
class Domain:
    """What one suite draws of one operation."""

    suite: str
    op: str
    choice: Choice[Any]


ALL: Final = "all draws"
KINDS: Final = (*get_args(Kind), ALL)

ENGINES: Final = "engines"
"""Changed code of the native engine, a family by itself. It needs the ``opencl`` extra."""

DECK: Final = "the deck's first"


def drawn(family: str, seed: int, kind: str) -> Iterator[Case]:
    """Yield the cases of a kind of draws of a family, or of all of them as a run has them."""
    domains = [
        Domain(name, op, choice)
        for dialect in dialects().values()
        if FAMILIES[dialect.name] == family
        for name, suite in dialect.suites.items()
        if name not in NEVER
        for op, choice in suite.domains.items()
    ]
    for number in range(1, 1 << 20):
        if kind in (ALL, dealt(seed, number).kind):
            for each in domains:
                yield each.suite, numbered(each.choice, seed, number)[0]


@dataclass
class Earned:
    """What a layer made and killed."""

    cases: int
    killed: frozenset[str]


def afforded(cases: Iterator[Case], seconds: float) -> Iterator[Trial]:
    """Yield the cases that so many seconds of making, meaning, answering and judging give."""
    costs, spent = Costs(), 0.0
    while spent < seconds:
        began = time.process_time()
        suite, case = next(cases, ("", None))
        if case is None:
            return
        one = trial(case, suite)
        spent += time.process_time() - began
        if one is not None:
            spent += costs.seconds(one)
            yield one


def earned(cases: Iterator[Case], mutants: Sequence[Mutant], seconds: float) -> Earned:
    """Return what a layer earns in so many seconds."""
    made, left = 0, list(mutants)
    for one in afforded(cases, seconds):
        made += 1
        left = [each for each in left if not (each.about(one) and each.fails(one))]
    return Earned(made, frozenset(each.name for each in mutants) - {each.name for each in left})


def held_out(family: str, seed: int, count: int) -> list[Mutant]:
    """Return so many mutants of a family that the deck was not chosen by."""
    unseen = [each for each in every_mutant([family]) if each.half == "unseen"]
    return sorted(unseen, key=lambda each: hashlib.sha256(f"{seed} {each.name}".encode()).digest())[:count]


def alive(family: str, mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return the mutants that no case of the deck kills: what was not asked as the deck was made is asked now."""
    dead = {each.name for each in deck_kills().mutants if each.kills}
    left = [each for each in mutants if each.name not in dead]
    for case in deck().cases:
        one = trial(case.case, case.suite) if left and case.family == family else None
        if one is not None:
            left = [each for each in left if not (each.about(one) and each.fails(one))]
    return left


def table(family: str, kinds: Sequence[str], seed: int, count: int, seconds: float) -> Iterator[str]:
    """Yield the rows of the table of a family, each as soon as it is known."""
    mutants = held_out(family, seed, count)
    left = {each.name for each in alive(family, mutants)}
    for kind in kinds:
        found = earned(drawn(family, seed, kind), mutants, seconds)
        yield _row(family, kind, found, len(mutants), left)


def table_of_engines(kinds: Sequence[str], seed: int, count: int, seconds: float) -> Iterator[str]:
    """Yield the rows of changed engines, each asked about the cases of every kind at once.

    A kind takes cases of all families in turn. Raise ``MutantError`` where the engine does not start here.
    """
    families = [each for each in FAMILIES.values() if each != "schedules"]
    of = {kind: _in_turn([drawn(family, seed, kind) for family in families]) for kind in kinds}
    of[DECK] = ((each.suite, each.case) for each in deck().cases if each.family in families)
    asked = {layer: {one.name: one for one in afforded(cases, seconds)} for layer, cases in of.items()}
    every = {name: one for ones in asked.values() for name, one in ones.items()}
    cases = tuple(
        OtherCase(one.suite, one.facts.op, at, name, one.case) for at, (name, one) in enumerate(every.items())
    )
    failed = {mutant.name: frozenset(names) for mutant, names in failed_cases(changed_engines(count, seed), cases)}
    killed = {layer: {name for name, cases in failed.items() if cases & ones.keys()} for layer, ones in asked.items()}
    left = failed.keys() - killed[DECK]
    for layer, ones in asked.items():
        yield _row(ENGINES, layer, Earned(len(ones), frozenset(killed[layer])), len(failed), left)


def _in_turn(several: Sequence[Iterator[Case]]) -> Iterator[Case]:
    return (case for cases in zip(*several, strict=False) for case in cases)


def _row(family: str, layer: str, found: Earned, mutants: int, left: AbstractSet[str]) -> str:
    beside = f"{len(found.killed & left)} of {len(left)}"
    return f"| {family} | {layer} | {found.cases} | {len(found.killed)} of {mutants} | {beside} |"


def main(arguments: list[str]) -> int:
    """Print the table; return 0."""
    parser = argparse.ArgumentParser(prog="python -m conformance.qualification.ablation", description=__doc__)
    families = [*(each for each in FAMILIES.values() if each != "schedules"), ENGINES]
    parser.add_argument("--family", action="append", choices=families, help="a family of mutants; all by default")
    parser.add_argument("--kind", action="append", choices=KINDS, help="a kind of draws; all by default")
    parser.add_argument("--mutants", type=int, default=MUTANTS, help="held-out mutants of each family")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="seconds of a processor for each layer")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    print("| family | layer | cases | killed | of what the deck leaves |\n|---|---|---|---|---|")
    for family in given.family or families:
        asked = given.kind or KINDS, given.seed, given.mutants, given.seconds
        for row in table_of_engines(*asked) if family == ENGINES else table(family, *asked):
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
