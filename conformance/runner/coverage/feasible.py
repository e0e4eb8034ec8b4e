"""Try every pair of words of the table of case features: ``python -m conformance.runner.coverage.feasible``.

Draws of several seeds show which pairs meet, in which domains and how often; draws that the file steers show in which
forms of domains a pair can be made. A pair that none shows is tried on purpose: domains that have both words draw with
both as goals, and with a third word that can meet them. What is not made then is infeasible for a reason
(``specs.domains.steering.infeasible``), or else it stays feasible and is a hole. A pair that is seldom made is dealt to
the domains of the forms in which one makes it.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain
from random import Random
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from conformance.cases.case import Case
from conformance.reference.situations import FEATURES
from conformance.runner.coverage.coverage import met_in, table
from conformance.runner.coverage.interactions import Table
from conformance.runner.draws import Numbers, numbered
from conformance.runner.plan import Draws, Plan
from conformance.specs import OPS
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.feasible import FILE, Tried, form_of
from conformance.specs.domains.steering.goals import steered_to, turn_of
from conformance.specs.domains.steering.infeasible import reasons
from conformance.specs.domains.steering.rare import may_have

SEEDS: Final = (1000, 1001)
"""None of those that anything else is measured with."""

OFTEN: Final = 10
"""Cases of a seed that a pair meets in by itself, in the mean: fewer, and it is rare."""

SHARE: Final = 150
"""A pair is dealt as often as it lacks cases, times this over the draws for rare words that may make it."""

MOST: Final = 12
"""How often a pair is dealt at most, beside its word, until all others have come."""

TRIES: Final = 8
"""Draws of a domain that is steered towards a pair, and half as many for three words."""

DOMAINS: Final = 6
"""Domains that are tried, those first that have both words most often, and of long blocks last."""

Pair = tuple[int, int]
Matrix = NDArray[np.int64]

_NAMES: Final = tuple("=".join(each) for each in table().words)
_EVERY: Final = Table(table().features, ()).feasible
"""The pairs of words of different features, each once."""


def pairs_of(case: Case) -> Matrix:
    """Return which words of each pair, by their numbers, meet in a case: 1, or 0."""
    met = np.zeros_like(_EVERY, np.int64)
    for row in _rows(case):
        met[np.ix_(row, row)] = 1
    return met


def main(examples: int = 300) -> Tried:
    """Try every pair, and return what came of it.

    Raise ``AssertionError`` where some case has a pair that is said to be infeasible.
    """
    domains = {draws.domain.name: draws for draws in Plan(tuple(OPS), examples, 0).draws()}
    met, words, shown = _drawn(domains)
    why, number = reasons(), {name: at for at, name in enumerate(_NAMES)}
    for one, other in why:
        if met[number[one], number[other]]:
            raise AssertionError(f"{one} and {other} are kept apart ({why[one, other]}), and some case has both")
    had = {name: _differing(each) for name, each in words.items()}
    known = {name: {f"{of}={word}" for of, each in of.items() for word in each} for name, of in had.items()}
    rooms = {
        name: sum(turn_of(name, at)[0] == "rare" for at in range(draws.examples)) for name, draws in domains.items()
    }
    infeasible: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    seldom: list[tuple[str, str, str]] = []
    unmade: list[str] = []
    for one, other in np.argwhere(_EVERY & (met < OFTEN * len(SEEDS))):
        pair = _NAMES[one], _NAMES[other]
        if pair in why:
            infeasible[why[pair]][pair[0]].append(pair[1])
            continue
        forms, more = [form for form, of in shown.items() if of[one, other]], ""
        if not forms:
            third, forms = _tried(domains, words, (int(one), int(other)))
            more = f"  {third}" if third else ""
        if not forms:
            unmade.append("  ".join(pair))
        lack = OFTEN - met[one, other] / len(SEEDS)
        turns = sum(
            room
            for name, room in rooms.items()
            if form_of(name) in forms and may_have(name, (pair[0], f"{pair[1]}{more}"), known[name])
        )
        if turns:
            times = max(1, min(MOST, round(lack * SHARE / turns)))
            seldom.append((pair[0], f"{pair[1]}{more}", " ".join((str(times), *forms))))
    return Tried(
        infeasible={a: {b: tuple(c) for b, c in of.items()} for a, of in infeasible.items()},
        unmade=tuple(unmade),
        rare=_grouped(seldom),
        words={name: tuple(f"{of}={','.join(each)}" for of, each in of.items()) for name, of in had.items()},
    )


def _drawn(domains: Mapping[str, Draws]) -> tuple[Matrix, dict[str, Matrix], dict[str, Matrix]]:
    """Return in how many cases each pair met on all seeds, each word in each domain, and each pair in each form."""
    met = np.zeros_like(_EVERY, np.int64)
    words: dict[str, Matrix] = {name: np.zeros(len(_EVERY), np.int64) for name in domains}
    shown: dict[str, Matrix] = {form_of(name): np.zeros_like(_EVERY, np.int64) for name in domains}
    for seed in SEEDS:
        for name, draws in domains.items():
            for number in range(draws.examples):
                of = pairs_of(numbered(draws.domain, seed, number)[0])
                shown[form_of(name)] += of
                # Draws that are steered towards rare words say nothing of how rare those are.
                if turn_of(name, number)[0] != "rare":
                    met += of
                    words[name] += of.diagonal()
        print(f"up to seed {seed}: {int((met[_EVERY] > 0).sum())} pairs", file=sys.stderr)
    return met, words, shown


def _rows(case: Case) -> list[list[int]]:
    number = table().number
    return [[number[each] for each in found.items()] for found in met_in(case)]


def _tried(domains: Mapping[str, Draws], words: Mapping[str, Matrix], pair: Pair) -> tuple[str, list[str]]:
    """Return a third word by which some domain makes a pair, if it takes one, and the domain's form; or nothing."""
    shares = {name: min(words[name][at] / domains[name].examples for at in pair) for name in domains}
    # A draw of long blocks takes a hundred times as long as another.
    ranked = sorted(domains, key=lambda name: (domains[name].suite == "long", -shares[name]))
    found = [name for name in ranked if all(words[name][at] for at in pair)][:DOMAINS]
    fits = table().feasible
    thirds = (third for third in range(len(_NAMES)) if all(fits[min(at, third), max(at, third)] for at in pair))
    alone = (("", [form_of(name)]) for name in found if _made(domains[name], pair, pair, TRIES))
    beside = (
        (_NAMES[at], [form_of(name)])
        for at in thirds
        for name in found[: DOMAINS // 2]
        if _made(domains[name], pair, (*pair, at), TRIES // 2)
    )
    return next(chain(alone, beside), ("", []))


def _made(draws: Draws, pair: Pair, wanted: tuple[int, ...], tries: int) -> bool:
    """Return whether a draw that is steered towards words makes a pair."""
    goals = dict(table().words[at] for at in wanted)
    for number in range(1, tries + 1):
        name = draws.domain.name
        random = Random(f"{name}, {wanted}, {number}")  # noqa: S311 - not for secrets
        case = Draw(Numbers(random), steered_to(goals, name, SEEDS[0], number))(draws.domain)
        if any({*pair} <= {*row} for row in _rows(case)):
            return True
    return False


def _grouped(seldom: list[tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    """Return each pair with that of its words which more rare pairs have, so that companions come together."""
    count = Counter(word for one, other, _ in seldom for word in (one, other.partition("  ")[0]))
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for one, other, dealt in seldom:
        first, _, more = other.partition("  ")
        word, companion = (one, first) if count[one] >= count[first] else (first, one)
        found[word][f"{companion}  {more}" if more else companion] = dealt
    return {word: found[word] for word, _ in count.most_common() if word in found}


def _differing(words: Matrix) -> dict[str, list[str]]:
    """Return the words that cases have of each feature of which they have several."""
    found = {
        feature: [word for word in FEATURES[feature] if words[table().number[feature, word]]] for feature in FEATURES
    }
    return {feature: each for feature, each in found.items() if len(each) > 1}


if __name__ == "__main__":
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(main()), indent=1) + b"\n")
