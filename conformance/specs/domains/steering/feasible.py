"""Which pairs of words of the table of case features can meet in one collective, and which of them seldom do.

``feasible.json`` is made by ``python -m conformance.runner.coverage.feasible``, which tries every pair. It has the
pairs that cannot meet, by the reason (``infeasible``), and the pairs that draws meet seldom unless they are steered.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Final

import msgspec

from conformance.reference.operations import TABLE
from conformance.reference.situations import FEATURES, NOTHING_DONE

FILE: Final = Path(__file__).with_name("feasible.json")


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What came of trying every pair.

    ``infeasible`` has, for each reason, words with those that they cannot meet, each as ``feature=word`` in the order
    of the table; ``unmade`` pairs that nothing excludes and no draw made. ``rare`` has words, each with those that it
    meets seldom, how often these are dealt beside it, and in which forms of domains (``form_of``). ``words`` has those
    of the cases of a domain, of each feature in which they differ, as ``feature=word,word``.
    """

    infeasible: Mapping[str, Mapping[str, tuple[str, ...]]]
    unmade: tuple[str, ...] = ()
    rare: Mapping[str, Mapping[str, str]]
    words: Mapping[str, tuple[str, ...]]


@cache
def tried() -> Tried:
    """Return what is in the file."""
    return msgspec.json.decode(FILE.read_bytes(), type=Tried)


@cache
def infeasible() -> frozenset[tuple[str, str]]:
    """Return the pairs of words that cannot meet, each as ``feature=word``, in the order of the table."""
    return frozenset(
        (one, other) for of in tried().infeasible.values() for one, others in of.items() for other in others
    )


def meet(words: Mapping[str, str]) -> bool:
    """Return whether words of different features can meet, pair by pair, and over no axis of the mesh a local one."""
    named = tuple(f"{feature}={words[feature]}" for feature in FEATURES if feature in words)
    return infeasible().isdisjoint(combinations(named, 2)) and not _idle(words) and not _flat(words)


def _idle(words: Mapping[str, str]) -> bool:
    """Return whether words are of a collective over no axis at all, of which some words say that it does something."""
    op, local = words.get("operation", ""), words.get("local", "")
    if words.get("axes") != "none" or (local != "none" and (op not in TABLE or "local_axes" in TABLE[op].attributes)):
        return False
    return any(words.get(feature, none) != none for feature, none in NOTHING_DONE.items())


def _flat(words: Mapping[str, str]) -> bool:
    """Return whether words are of an operand without axes and of a view that nothing without axes has.

    Of what gathers such operands the target has an axis.
    """
    op = words.get("operation", "")
    gathers = op not in TABLE or TABLE[op].does == "gather"
    return words.get("rank") == "0" and words.get("view") in ("stepped", "turned") and not gathers


def form_of(name: str) -> str:
    """Return what the domains of one kind have in common, whichever their operations are."""
    return name.partition("(")[0].removeprefix("conformance.specs.")


def apart(words: str) -> dict[str, str]:
    """Return words by feature, which are written as ``feature=word`` with two spaces between them."""
    return dict(word.split("=") for word in words.split("  "))


@cache
def words_of(name: str) -> frozenset[str]:
    """Return the words of the cases of a domain, of each feature in which they differ."""
    listed = (each.partition("=") for each in tried().words.get(name, ()))
    return frozenset(f"{feature}={word}" for feature, _, words in listed for word in words.split(","))
