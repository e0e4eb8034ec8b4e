"""Interaction coverage, and that drawn graphs have enough of it on every seed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.graph.situations import CLASSES, EXCLUDED, FEATURES, situations, trigrams
from conformance.cases.schedule.builders import alu, graph, node, stored
from conformance.cases.schedule.question import ScheduleCase
from conformance.generate.graphs.scheduled import graphs
from conformance.runner.coverage.interactions import Interactions, Table
from conformance.runner.draws import draw_cases, numbered
from conformance.runner.plan import EXAMPLES, Plan

COUNT = 100


def drawn(seed: int) -> list[Graph]:
    return [numbered(graphs(), seed, number)[0] for number in range(COUNT)]


@pytest.mark.parametrize(("suite", "op"), [("graphs", "graph"), ("schedules", "schedule_of_graph")])
def test_the_draws_of_a_run_meet_nearly_every_pair_and_most_triples_and_trigrams(suite: str, op: str) -> None:
    counted = Interactions(Table(FEATURES, CLASSES, EXCLUDED))
    draws = Plan((op,), EXAMPLES, 3).of(suite, op)

    def count(case: GraphCase | ScheduleCase) -> None:
        asked = case.graph if isinstance(case, GraphCase) else case.of
        assert isinstance(asked, Graph)
        counted.add(situations(asked), trigrams(asked))

    draw_cases(draws.domain, draws.examples, 3, count)
    met = counted.measured()
    assert met["pairs"].met > 0.97 * met["pairs"].feasible, met["pairs"].holes
    assert met["triples"].met > 0.8 * met["triples"].feasible
    assert met["trigrams"].met > 0.4 * met["trigrams"].feasible


@pytest.mark.parametrize("words", EXCLUDED, ids=lambda words: " ".join(words.values()))
def test_what_is_excluded_never_meets_where_both_words_are_drawn(words: Mapping[str, str]) -> None:
    found = [each for asked in drawn(0) for each in situations(asked)]
    assert all(any(each[name] == word for each in found) for name, word in words.items())
    assert not [each for each in found if words.items() <= each.items()]


def test_the_words_of_situations_are_in_the_table() -> None:
    assert len(CLASSES) <= 14
    for each in (one for asked in drawn(1) for one in situations(asked)):
        assert each.keys() == FEATURES.keys()
        assert all(word in FEATURES[name] for name, word in each.items())


def test_a_trigram_goes_along_the_sources() -> None:
    nodes = (
        stored("a"), node("r", "reshape", "a", shape=(2, 2)), alu("n", "neg", "r", shape=(2, 2)),
        alu("c", "lt", "n", "n", shape=(2, 2), dtype="bool"),
    )  # fmt: skip
    assert set(trigrams(graph(*nodes, results=["c"]))) == {("reshape", "elementwise", "convert")}


def test_what_did_not_meet_is_a_hole_unless_it_is_excluded() -> None:
    for excluded, feasible in ((), 4), (({"x": "2", "y": "1"},), 3):
        counted = Interactions(Table({"x": "12", "y": "12"}, "pq", excluded))
        counted.add([{"x": "1", "y": "1"}, {"x": "2", "y": "2"}], [("p", "p", "p")])
        met = counted.measured(" of it")
        assert (met["pairs of it"].met, met["pairs of it"].feasible) == (2, feasible)
        assert "x 1 with y 2" in met["pairs of it"].holes
        assert (met["trigrams of it"].met, met["trigrams of it"].feasible) == (1, 8)


def test_a_triple_is_feasible_if_its_pairs_are() -> None:
    counted = Interactions(Table({"x": "12", "y": "12", "z": "12"}, "p", [{"x": "1", "z": "1"}]))
    counted.add([{"x": "1", "y": "1", "z": "2"}], [])
    triples = counted.measured()["triples"]
    assert (triples.met, triples.feasible, len(triples.holes)) == (1, 6, 5)


def test_a_share_of_graphs_is_long_and_some_are_past_thresholds() -> None:
    sizes = sorted(len(situations(asked)) for asked in drawn(0))
    assert sizes[COUNT // 2] <= 20
    assert sizes[-COUNT // 5] >= 20
    large = [n for asked in drawn(0) for n in asked.nodes if (n.op == "buf" and 8192 in n.shape) or 1024 in n.shape]
    assert large
