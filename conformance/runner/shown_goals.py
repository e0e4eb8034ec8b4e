"""What a run has shown: pairs of a clause that speaks and a word, by which the draws behind the deck are chosen.

A case that is drawn is looked at ten times as often as one is asked, so that what costs much is asked of few: which
clauses speak, paired with the words that claims are held against. Pairs of these words alone, which need no meaning,
say roughly as much. Of a graph it is what its nodes do with their words, which needs none either. All of them are those
of the deck (``generate.shown``), whose cases a run has shown first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.cases.case import Case
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.program.features import features
from conformance.cases.schedule.question import ScheduleCase
from conformance.cases.sharded.case import ShardedCase
from conformance.runner.dialect import Trial
from conformance.runner.dialects.schedule import ScheduleSubject
from conformance.vectors.deck import Deck
from conformance.vectors.goals import Numbering
from conformance.vectors.shown import graph_parts

_ROWS: Final = 1 << 24
"""What a pair's first member is multiplied by: there are some 10,000 words."""

Goals = frozenset[int]
"""Pairs, as numbers."""


class ShownGoals:
    """The pairs that the cases of a run showed."""

    def __init__(self) -> None:
        """Have nothing shown."""
        self._numbers: dict[str, int] = {}
        self._shown: set[int] = set()

    def show(self, goals: Iterable[int]) -> None:
        """Count pairs as shown."""
        self._shown.update(goals)

    def adds(self, goals: Goals) -> int:
        """Return how many of these pairs no case showed."""
        return len(goals - self._shown)

    def of_deck(self, deck: Deck, numbers: Iterable[int]) -> None:
        """Count what these cases of the deck show."""
        tables = deck.tables
        clauses = [self._number(name) for name in tables.clauses]
        words = [self._number(word) for word in tables.words]
        facts = [self._number(f"{feature}={word}") for feature, word in tables.facts]
        graphs = []
        for number in numbers:
            one = deck.cases[number]
            if one.form in ("program", "typed"):
                speak = {clauses[each] for part, _ in one.parts for each in part}
                met = {facts[each] for of in one.facts.values() for each in of}
                self._shown.update(_pairs(speak, met))
                if one.form == "program":
                    self._shown.update(_among(met))
            else:
                graphs.append(one.parts)
        numbering = Numbering(tables.clauses, len(words))
        numbering.rows(graphs)
        for of, word in numbering.pairs():
            self._shown.add(clauses[of] * _ROWS + words[word])

    def rough_goals(self, case: Any) -> Goals | None:
        """Return what a case shows, as far as that can be told without its meaning; ``None`` where nothing can.

        Of a graph that is all.
        """
        graph = graph_of(case)
        if graph is not None:
            return self.graph_goals(graph)
        if not isinstance(case, Case):
            return None
        words = {self._number(f"{name}={word}") for name, several in features(case).items() for word in several}
        return frozenset(_among(words))

    def goals_of(self, one: Trial) -> Goals:
        """Return what a case with its meaning shows that is no graph, or has one only by its meaning."""
        if isinstance(one.subject, ScheduleSubject):
            return self.graph_goals(one.subject.graph)
        return self._of_features(one.dialect.speaking(one.subject), one.facts.features)

    def graph_goals(self, graph: Graph) -> Goals:
        """Return what a graph shows."""
        parts = graph_parts(graph, frozenset(), (), {}, {})
        return frozenset(
            pair
            for part in parts
            for pair in _pairs(map(self._number, part.clauses), [self._number(word) for word in part.words])
        )

    def _of_features(self, speak: Iterable[str], features: Mapping[str, Mapping[str, Iterable[str]]]) -> Goals:
        words = {
            self._number(f"{feature}={word}")
            for of in features.values()
            for feature, several in of.items()
            for word in several
        }
        return frozenset(_pairs(map(self._number, speak), words))

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))


def graph_of(case: Any) -> Graph | None:
    """Return the graph of a case that is one, by which it can be weighed before anybody knows what it means."""
    if isinstance(case, GraphCase):
        return case.graph
    if isinstance(case, ShardedCase):
        return case.of.graph
    return case.of if isinstance(case, ScheduleCase) and isinstance(case.of, Graph) else None


def _among(words: Iterable[int]) -> Iterable[int]:
    """Return every pair of words, the smaller number first."""
    row = sorted(words)
    return (one * _ROWS + other for at, one in enumerate(row) for other in row[at + 1 :])


def _pairs(first: Iterable[int], second: Iterable[int]) -> Iterable[int]:
    others = tuple(second)
    return (one * _ROWS + other for one in first for other in others)
