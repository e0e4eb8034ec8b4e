"""Clauses about graphs, and what they say of an observation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conformance.cases.declarations.number_model import STANDARD, NumberModel
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import Tensor
from conformance.judging.clause import Held, Requirement
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.graphs.traits import Words
from conformance.judging.graphs.values import beyond, off, unlike


@dataclass(frozen=True)
class Wrong:
    """The wrong value that is listed first: its key, what is wrong, and what it is made of."""

    key: str
    how: str
    detail: str
    words: Words


@dataclass(frozen=True)
class Seen:
    """An observation, the number model in which it is judged, and the first wrong value, if there is one."""

    observation: Observation
    numbers: NumberModel
    wrong: Wrong | None

    def given(self, key: str) -> Tensor | None:
        """Return the value of a key, ``None`` where there is none."""
        blocks = self.observation.results.get(key, ())
        return blocks[0] if blocks else None


@dataclass(frozen=True)
class GraphClause:
    """One sentence. ``check`` returns ``None`` where it holds, else what was seen and what is right.

    ``when`` says whether a case has anything that the sentence is about.
    """

    id: str
    requirement: Requirement
    text: str
    source: str
    when: Callable[[GraphSubject], bool]
    check: Callable[[GraphSubject, Seen], str | None]
    suite: str = "graphs"
    general: bool = False
    variant: bool = False
    plain: bool = False


def seen(subject: GraphSubject, observation: Observation, numbers: NumberModel = STANDARD) -> Seen:
    """Return an observation with what is wrong first in the order in which nodes are listed."""
    found = Seen(observation, numbers, None)
    if not subject.legal or observation.raised:
        return found
    place = {node.id: at for at, node in enumerate(subject.graph.nodes)}
    last = len(place)
    for key in sorted(subject.keys, key=lambda each: place.get(each.partition("/")[2], last)):
        wrong = _wrong(subject, found, key)
        if wrong is not None:
            return Seen(observation, numbers, wrong)
    return found


def _wrong(subject: GraphSubject, found: Seen, key: str) -> Wrong | None:
    given, worth = found.given(key), subject.expected[key]
    words = subject.traits[key]
    problem = "nothing was given" if given is None else unlike(worth, given)
    if problem is not None or given is None:
        return Wrong(key, "form", f"{key}: {problem}", words)
    for how, check in (("bits", off), ("bound", beyond)):
        problem = check(worth, given, found.numbers)
        if problem is not None:
            return Wrong(key, how, f"{key}: {problem}", words)
    return None


def about(*words: str) -> Callable[[GraphSubject], bool]:
    """Speak of cases some value of which is made of all of several words."""
    wanted = frozenset(words)
    return lambda subject: subject.legal and any(wanted <= each for each in subject.traits.values())


def right(*words: str) -> Callable[[GraphSubject, Seen], str | None]:
    """Find the first wrong value, if it is made of all of several words."""
    wanted = frozenset(words)
    return lambda _, found: found.wrong.detail if found.wrong is not None and wanted <= found.wrong.words else None


def way(*hows: str) -> Callable[[GraphSubject, Seen], str | None]:
    """Find the first wrong value, if it is wrong in one of several ways."""
    return lambda _, found: found.wrong.detail if found.wrong is not None and found.wrong.how in hows else None


def findings(
    clauses: Sequence[GraphClause], subject: GraphSubject, found: Seen
) -> tuple[dict[str, Held], dict[str, str]]:
    """Return what the clauses that speak say, and the detail of each that is broken."""
    held: dict[str, Held] = {}
    details: dict[str, str] = {}
    for clause in clauses:
        if clause.when(subject):
            problem = clause.check(subject, found)
            held[clause.id] = "held" if problem is None else "broken"
            if problem is not None:
                details[clause.id] = problem
    return held, details
