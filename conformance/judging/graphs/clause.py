"""Clauses about graphs, and what they say of an observation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.cases.declarations.number_model import SHORT, STANDARD, NumberModel
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import Tensor
from conformance.judging.graphs.ancestors import ancestors
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.graphs.values import beyond, off, unlike
from conformance.judging.keyed_values import KeyedClause, WrongValue, WrongValues, parted
from conformance.reference.graph.carried import APART, EXCESS, LOST
from conformance.reference.graph.evaluate import BoundedValue

WORD: Final = "intermediates"
"""The kind of words that admits what 16 bits do not hold on the way."""


@dataclass(frozen=True)
class GraphSeen:
    """An observation, the number model in which it is judged, and the wrong values."""

    observation: Observation
    numbers: NumberModel
    wrongs: WrongValues = field(default_factory=WrongValues)

    def given(self, key: str) -> Tensor | None:
        """Return the value of a key, ``None`` where there is none."""
        blocks = self.observation.results.get(key, ())
        return blocks[0] if blocks else None


@dataclass(frozen=True)
class GraphDivergence:
    """What a ``source`` says where a clause says something else; ``shown`` tells whether that is all that was seen.

    A source that has a case mean what another one means gives that one ``otherwise``.
    """

    source: str
    text: str
    shown: Callable[[GraphSubject, GraphSeen], bool]
    otherwise: Callable[[GraphCase], GraphCase | None] | None = None


@dataclass(frozen=True)
class GraphClause(KeyedClause[GraphSubject, GraphSeen]):
    """A clause about graphs. ``diverges`` lists what sources say otherwise."""

    suite: str = "graphs"
    diverges: tuple[GraphDivergence, ...] = ()


def seen(subject: GraphSubject, observation: Observation, numbers: NumberModel = STANDARD) -> GraphSeen:
    """Return an observation with what is wrong in it, in the order in which nodes are listed."""
    found = GraphSeen(observation, numbers)
    if not subject.legal or observation.raised:
        return found
    wrongs = [wrong for key in subject.keys if (wrong := _wrong(subject, found, key)) is not None]
    if len(wrongs) > 1:
        place = {node.id: at for at, node in enumerate(subject.graph.nodes)}
        wrongs.sort(key=lambda wrong: place.get(wrong.key.partition("/")[2], len(place)))
    return GraphSeen(observation, numbers, parted(wrongs, lambda keys: ancestors(subject.case, keys)))


def _wrong(subject: GraphSubject, found: GraphSeen, key: str) -> WrongValue | None:
    given, meant = found.given(key), subject.expected[key]
    problem = "nothing was given" if given is None else unlike(meant, given)
    if problem is not None or given is None:
        return WrongValue(key, "form", f"{key}: {problem}", subject.traits[key])
    if given.bits == meant.array.tobytes().hex():  # which are always right
        return None
    for how, check in (("bits", off), ("bound", beyond)):
        problem = check(meant, given, found.numbers)
        if problem is not None:
            more = "" if how == "bound" else _declaration(meant, given, found.numbers)
            return WrongValue(key, how, f"{key}: {problem}{more}", subject.traits[key])
    return None


def _declaration(meant: BoundedValue, given: Tensor, numbers: NumberModel) -> str:
    """Return, to end a sentence with, the declaration that admits a value by what 16 bits lose alone."""
    dtypes = [dtype for dtype in SHORT if not any(where == dtype for where, kind, _ in numbers.chosen if kind == WORD)]
    if not dtypes or not meant.slack.bits & (APART | EXCESS | LOST):
        return ""
    more = replace(numbers, chosen=tuple(sorted({*numbers.chosen, *((each, WORD, "excess") for each in dtypes)})))
    if off(meant, given, more) is not None or beyond(meant, given, more) is not None:
        return ""
    return f'; if that is how it computes, declare number_model = {{"{WORD}": "excess"}}'
