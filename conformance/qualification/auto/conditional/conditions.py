"""Under which conditions mutants are wrong: one to three words about a collective, none of a feature twice."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from random import Random
from typing import Final

from conformance.cases.program.program import EFFECTS
from conformance.qualification.auto.conditional.together import can_meet
from conformance.reference.situations import FEATURES, OF_CASE
from conformance.runner.coverage.infeasible import reasons

ABSENT: Final = ("reduction", "dtype", "extent", "rank", "layout", "axis", "tiled", "root", "operands", "values")
"""Features whose word ``none`` says that there is nothing to tell."""

WORDS: Final[dict[str, tuple[str, ...]]] = {
    feature: tuple(word for word in words if word != "none" or feature not in ABSENT)
    for feature, words in ({**FEATURES, **OF_CASE}).items()
    if feature != "legal"  # the effect says which programs it needs
}
"""What conditions are made of."""

_ORDER: Final = {feature: number for number, feature in enumerate(FEATURES)}

ATTRIBUTES: Final = ("reduction", "local", "tiled", "root")
"""Features that not every operation has, be the program legal or not."""

_APART: Final[dict[str, tuple[str, ...]]] = {
    "place": ("into", "in_place", "overlap"),
    "start": ("waited", "later", "never"),
    "after": (*EFFECTS, "start"),
    "view": FEATURES["view"][1:],
}
"""Words that programs whose ranks go their own ways do not have: nothing is written or started in them."""


def condition(random: Random, fixed: Collection[str] = ()) -> frozenset[str]:
    """Draw one to three words; ``fixed`` are there anyway, and their features are left out."""
    taken = {word.partition("=")[0] for word in fixed}
    found: list[str] = []
    for _ in range(random.choice((1, 2, 3))):
        name = random.choice([name for name in WORDS if name not in taken])
        found.append(f"{name}={random.choice(WORDS[name])}")
        taken.add(name)
    return frozenset(found)


def impossible(words: Collection[str]) -> str | None:
    """Return why no case meets all of ``words``, ``None`` where nothing keeps one from it.

    What cannot meet in a legal program is told by the pairs of the table that are infeasible, and by what words demand
    of others (``together``); in an illegal one only that an operation has no such attribute.
    """
    known = set(words)
    several = [word for word in sorted(known) if sum(_name(word) == _name(other) for other in known) > 1]
    if several:
        return f"a collective has one {_name(several[0])}, not {' and '.join(several)}"
    if any(_name(word) == "trouble" for word in known):
        for name, listed in _APART.items():
            if any(f"{name}={word}" in known for word in listed):
                return f"ranks that go their own ways write and start nothing, so none has such a {name}"
    if {"trouble=dies", "legal=no"} <= known:
        return "where a rank dies it is not asked whether the program is legal"
    table = sorted((word for word in known if _name(word) in _ORDER), key=lambda word: _ORDER[_name(word)])
    for one, other in combinations(table, 2):
        if "legal=no" in known and not (_name(one) == "operation" and _name(other) in ATTRIBUTES):
            continue
        if (one, other) in reasons():
            return f"no program has a collective with {one} and {other}"
    return (
        f"no program has a collective with {_listed(table)}"
        if "legal=no" not in known and not can_meet(table)
        else None
    )


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _name(word: str) -> str:
    return word.partition("=")[0]
