"""Interaction coverage, and that drawn graphs have enough of it on every seed."""

from __future__ import annotations

from itertools import chain

import pytest

from conformance.cases.graph.graph import Graph
from conformance.cases.graph.situations import CLASSES, EXCLUDED, FEATURES, situations, trigrams
from conformance.runner.coverage.interactions import Interactions, Table
from conformance.runner.draws import numbered
from conformance.specs.schedules.domain.build import alu, graph, node, stored
from conformance.specs.schedules.domain.graphs import graphs

EXAMPLES = 100


def drawn(seed: int) -> list[Graph]:
    return [numbered(graphs(), seed, number)[0] for number in range(EXAMPLES)]


@pytest.mark.parametrize("seed", range(5))
def test_drawn_graphs_meet_every_pair_and_nine_of_ten_triples_and_trigrams(seed: int) -> None:
    found, chains = zip(*((situations(asked), trigrams(asked)) for asked in drawn(seed)), strict=True)
    counted = Interactions(Table(FEATURES, CLASSES, EXCLUDED))
    counted.add(chain(*found), chain(*chains))
    met = counted.measured()
    assert met["pairs"].met == met["pairs"].feasible, met["pairs"].holes
    assert met["triples"].met > 0.9 * met["triples"].feasible
    assert met["trigrams"].met > 0.9 * met["trigrams"].feasible


def test_what_is_excluded_never_meets() -> None:
    found = [each for asked in drawn(0) for each in situations(asked)]
    assert not [each for each in found for words in EXCLUDED if words.items() <= each.items()]


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
    assert sizes[EXAMPLES // 2] <= 20
    assert sizes[-EXAMPLES // 5] >= 20
    large = [n for asked in drawn(0) for n in asked.nodes if (n.op == "buf" and 8192 in n.shape) or 1024 in n.shape]
    assert large
