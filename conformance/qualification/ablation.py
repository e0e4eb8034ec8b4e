"""``python -m conformance.qualification.ablation``: what each layer of the drawing earns, alone and beside the deck.

Each layer makes cases until its share of processor time is spent: to make them, to ask the reference and to judge its
answer, which is the cost of a case to any run. Counted are the mutants that die of them, of those that the deck was
not chosen by, and of those that the whole deck leaves alive.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from conformance.generate.choices import Choice, Kind
from conformance.generate.deal import dealt
from conformance.qualification.deck.candidate import FAMILIES
from conformance.qualification.deck.candidates import NEVER, Costs
from conformance.qualification.deck.every_mutant import every_mutant
from conformance.qualification.deck.mutant import Mutant
from conformance.runner.dialects import dialects, trial
from conformance.runner.draws import numbered
from conformance.vectors.deck import deck
from conformance.vectors.power import deck_kills

Made = tuple[str, Any]
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


def layers(family: str, seed: int) -> dict[str, Iterator[Made]]:
    """Return the kinds of draws of a family, and all of them as a run has them, each with its cases one by one."""
    domains = [
        Domain(name, op, choice)
        for dialect in dialects().values()
        if FAMILIES[dialect.name] == family
        for name, suite in dialect.suites.items()
        if name not in NEVER
        for op, choice in suite.domains.items()
    ]
    return {kind: _drawn(domains, seed, kind) for kind in KINDS}


def _drawn(domains: Sequence[Domain], seed: int, kind: str) -> Iterator[Made]:
    for number in range(1, 1 << 20):
        if kind in (ALL, dealt(seed, number).kind):
            for each in domains:
                yield each.suite, numbered(each.choice, seed, number)[0]


@dataclass
class Earned:
    """What a layer made and killed."""

    cases: int
    seconds: float
    killed: frozenset[str]


def earned(cases: Iterator[Made], mutants: Sequence[Mutant], seconds: float) -> Earned:
    """Return what a layer earns in so many seconds of making, meaning, answering and judging."""
    costs, spent, made, left = Costs(), 0.0, 0, list(mutants)
    while spent < seconds:
        began = time.process_time()
        suite, case = next(cases, ("", None))
        if case is None:
            break
        one = trial(case, suite)
        spent += time.process_time() - began
        if one is None:
            continue
        spent, made = spent + costs.seconds(one), made + 1
        left = [each for each in left if not (each.about(one) and each.fails(one))]
    return Earned(made, spent, frozenset(each.name for each in mutants) - {each.name for each in left})


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
    for name, cases in layers(family, seed).items():
        if name not in kinds:
            continue
        found = earned(cases, mutants, seconds)
        beside = f"{len(found.killed & left)} of {len(left)}"
        yield f"| {family} | {name} | {found.cases} | {len(found.killed)} of {len(mutants)} | {beside} |"


def main(arguments: list[str]) -> int:
    """Print the table; return 0."""
    parser = argparse.ArgumentParser(prog="python -m conformance.qualification.ablation", description=__doc__)
    families = [each for each in FAMILIES.values() if each != "schedules"]
    parser.add_argument("--family", action="append", choices=families, help="a family of mutants; all by default")
    parser.add_argument("--kind", action="append", choices=KINDS, help="a kind of draws; all by default")
    parser.add_argument("--mutants", type=int, default=MUTANTS, help="held-out mutants of each family")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="seconds of a processor for each layer")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    print("| family | layer | cases | killed | of what the deck leaves |\n|---|---|---|---|---|")
    for family in given.family or families:
        for row in table(family, given.kind or KINDS, given.seed, given.mutants, given.seconds):
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
