"""Clauses about graphs, and what they say of an observation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.cases.declarations.number_model import SHORT, STANDARD, NumberModel
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.graphs.traits import ancestors
from conformance.judging.graphs.values import beyond, off, same_bits, unlike
from conformance.judging.keyed_values import KeyedClause, Wrong, WrongValues, parted
from conformance.reference.graph.evaluate import Worth
from conformance.reference.graph.slack import EXCESS

WORD: Final = "intermediates"
"""The kind of words that admits what 16 bits do not hold on the way."""


@dataclass(frozen=True)
class Seen:
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
    """What a ``source`` says where a clause says something else; ``shown`` tells whether that is all that was seen."""

    source: str
    text: str
    shown: Callable[[GraphSubject, Seen], bool]


@dataclass(frozen=True)
class GraphClause(KeyedClause[GraphSubject, Seen]):
    """A clause about graphs. ``diverges`` lists what sources say otherwise."""

    suite: str = "graphs"
    diverges: tuple[GraphDivergence, ...] = ()


def seen(subject: GraphSubject, observation: Observation, numbers: NumberModel = STANDARD) -> Seen:
    """Return an observation with what is wrong in it, in the order in which nodes are listed."""
    found = Seen(observation, numbers)
    if not subject.legal or observation.raised:
        return found
    place = {node.id: at for at, node in enumerate(subject.graph.nodes)}
    last = len(place)
    listed = sorted(subject.keys, key=lambda each: place.get(each.partition("/")[2], last))
    wrongs = [wrong for key in listed if (wrong := _wrong(subject, found, key)) is not None]
    return Seen(observation, numbers, parted(wrongs, lambda: ancestors(subject.case)))


def _wrong(subject: GraphSubject, found: Seen, key: str) -> Wrong | None:
    given, worth = found.given(key), subject.expected[key]
    words = subject.traits[key]
    problem = "nothing was given" if given is None else unlike(worth, given)
    if problem is not None or given is None:
        return Wrong(key, "form", f"{key}: {problem}", words)
    if same_bits(worth, to_array(given)):
        return None
    for how, check in (("bits", off), ("bound", beyond)):
        problem = check(worth, given, found.numbers)
        if problem is not None:
            more = "" if how == "bound" else _declaration(worth, given, found.numbers)
            return Wrong(key, how, f"{key}: {problem}{more}", words)
    return None


def _declaration(worth: Worth, given: Tensor, numbers: NumberModel) -> str:
    """Return, to end a sentence with, the declaration that admits a value that overflows in 16 bits alone."""
    dtypes = [dtype for dtype in SHORT if not any(where == dtype for where, kind, _ in numbers.chosen if kind == WORD)]
    if not dtypes or not worth.slack.bits & EXCESS:
        return ""
    more = replace(numbers, chosen=tuple(sorted({*numbers.chosen, *((each, WORD, "excess") for each in dtypes)})))
    if off(worth, given, more) is not None or beyond(worth, given, more) is not None:
        return ""
    return f'; if that is how it computes, declare number_model = {{"{WORD}": "excess"}}'
