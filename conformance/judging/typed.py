"""Clauses about typed cases, and what sources say otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.cases.observation import Observation, RankError
from conformance.judging.keyed_values import KeyedClause
from conformance.reference.transforms.meaning import TypedMeaning


@dataclass(frozen=True)
class TypedDivergence:
    """What a ``source`` says where a clause says something else; ``shown`` tells whether that is what was seen."""

    source: str
    text: str
    shown: Callable[[TypedMeaning, Observation], bool]


@dataclass(frozen=True)
class TypedClause(KeyedClause[TypedMeaning, Observation]):
    """A clause about a typed case; of several that are broken a ``general`` one is blamed last.

    ``diverges`` lists what sources say otherwise.
    """

    suite: str = "types"
    diverges: tuple[TypedDivergence, ...] = ()


def not_implemented(error: RankError) -> bool:
    """Return whether an exception says that something is not implemented, by its type or its text: it is no verdict."""
    return error.category == "unsupported" or "not implemented" in error.message.lower()
