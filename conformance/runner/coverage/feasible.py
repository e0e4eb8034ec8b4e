"""Try every pair of words of the table of case features: ``python -m conformance.runner.coverage.feasible``.

Draws of several seeds show which pairs meet, in which domains and how often. A pair that they do not show is tried on
purpose: each domain that has both words draws with both as goals. What is not made then is infeasible for a reason
(``specs.domains.steering.infeasible``), or else it stays feasible and is a hole. A pair that is seldom made is dealt to
the domains that make it when they are steered to.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from random import Random
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from conformance.cases.case import Case
from conformance.runner.coverage.coverage import met_in, table
from conformance.runner.coverage.interactions import Table
from conformance.runner.draws import Numbers, numbered
from conformance.runner.plan import Draws, Plan
from conformance.specs import OPS
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.feasible import FILE, Tried
from conformance.specs.domains.steering.goals import KINDS, each_alone
from conformance.specs.domains.steering.infeasible import reasons

SEEDS: Final = (1000, 1001)
"""None of those that anything else is measured with."""

OFTEN: Final = 5
"""Cases of a seed that a pair meets in by itself, in the mean: fewer, and it is rare."""

TRIES: Final = 8
"""Draws of a domain that is steered towards a pair."""

DOMAINS: Final = 6
"""Domains that are tried, those first that have both words most often, and of long blocks last."""

SURE: Final = 3e-4
"""The chance that a rare pair is missed by a seed, at most, if draws are independent."""

Pair = tuple[int, int]
Matrix = NDArray[np.int64]

_NAMES: Final = tuple("=".join(each) for each in table().words)
_EVERY: Final = Table(table().features, ()).feasible
"""The pairs of words of different features, each once."""


def pairs_of(case: Case) -> Matrix:
    """Return how often the words of each pair, by their numbers, meet in a case."""
    met = np.zeros_like(_EVERY, np.int64)
    for row in _rows(case):
        met[np.ix_(row, row)] += 1
    return met


def main(examples: int = 300) -> Tried:
    """Try every pair, and return what came of it.

    Raise ``AssertionError`` where some case has a pair that is said to be infeasible.
    """
    domains = {draws.domain.name: draws for draws in Plan(tuple(OPS), examples, 0).draws()}
    met, words = _drawn(domains)
    why = reasons()
    infeasible: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    rates: dict[Pair, dict[str, float]] = {}
    unmade: list[str] = []
    for one, other in np.argwhere(_EVERY & (met < OFTEN * len(SEEDS))):
        pair = _NAMES[one], _NAMES[other]
        if pair in why and not met[one, other]:
            infeasible[why[pair]][pair[0]].append(pair[1])
            continue
        found = _steered(domains, words, (int(one), int(other)))
        if found:
            rates[int(one), int(other)] = found
        elif not met[one, other]:
            unmade.append("  ".join(pair))
    number = {name: at for at, name in enumerate(_NAMES)}
    for one, other in why:
        if met[number[one], number[other]]:
            raise AssertionError(f"{one} and {other} are kept apart ({why[one, other]}), and some case has both")
    rare = {
        name: tuple("  ".join(_NAMES[at] for at in pair) for pair in pairs)
        for name, pairs in _dealt(rates, met, domains)
    }
    return Tried(infeasible={a: {b: tuple(c) for b, c in of.items()} for a, of in infeasible.items()},
                 unmade=tuple(unmade), rare=rare)  # fmt: skip


def _drawn(domains: Mapping[str, Draws]) -> tuple[Matrix, dict[str, Matrix]]:
    """Return how often each pair met on all seeds, and how often each word in each domain."""
    met = np.zeros_like(_EVERY, np.int64)
    words: dict[str, Matrix] = {name: np.zeros(len(_EVERY), np.int64) for name in domains}
    for seed in SEEDS:
        for name, draws in domains.items():
            for number in range(draws.examples):
                # Draws that are steered towards rare pairs say nothing of how rare those are.
                if number % len(KINDS):
                    of = pairs_of(numbered(draws.domain, seed, number)[0])
                    met += of
                    words[name] += of.diagonal()
        print(f"up to seed {seed}: {int((met[_EVERY] > 0).sum())} pairs", file=sys.stderr)
    return met, words


def _rows(case: Case) -> list[list[int]]:
    number = table().number
    return [[number[each] for each in found.items()] for found in met_in(case)]


def _steered(domains: Mapping[str, Draws], words: Mapping[str, Matrix], pair: Pair) -> dict[str, float]:
    """Return the share of draws that make a pair, for each domain that does when it is steered to."""
    found: dict[str, float] = {}
    wanted = dict(table().words[at] for at in pair)
    shares = {name: min(words[name][at] / domains[name].examples for at in pair) for name in domains}
    # A draw of long blocks takes a hundred times as long as another.
    ranked = sorted(domains, key=lambda name: (domains[name].suite == "long", -shares[name]))
    for name in [each for each in ranked if all(words[each][at] for at in pair)][:DOMAINS]:
        made = 0
        for number in range(1, TRIES + 1):
            random = Random(f"{name}, {pair}, {number}")  # noqa: S311 - not for secrets
            case = Draw(Numbers(random), {**each_alone(name, SEEDS[0], number), "wrong": "", **wanted})(
                domains[name].domain
            )
            made += any({*pair} <= {*row} for row in _rows(case))
        if made:
            found[name] = made / TRIES
        if sum(rate > 0.3 for rate in found.values()) > 1:
            break
    return found


def _dealt(
    rates: Mapping[Pair, Mapping[str, float]], met: Matrix, domains: Mapping[str, Draws]
) -> list[tuple[str, list[Pair]]]:
    """Return the pairs that each domain is to draw, so often that each is missed seldom, by the domains least taken."""
    room = {name: draws.examples / len(KINDS) for name, draws in domains.items()}
    taken: Counter[str] = Counter()
    dealt: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in sorted(rates, key=lambda pair: (met[pair], len(rates[pair]), max(rates[pair].values()))):
        of = rates[pair]
        missed = math.exp(-met[pair] / len(SEEDS))
        while missed > SURE and any(taken[name] < room[name] for name in of):
            name = max(of, key=lambda name: of[name] * max(0.0, 1 - taken[name] / room[name]))
            dealt[name].append(pair)
            taken[name] += 1
            missed *= 1 - min(of[name], 0.98)
    return sorted(dealt.items())


if __name__ == "__main__":
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(main()), indent=1) + b"\n")
