"""Graphs of meetings have what engines tell meetings apart by."""

from __future__ import annotations

from math import prod

from conformance.cases.tensor.dtypes import NUMPY
from conformance.generate.choices import Choice
from conformance.generate.graphs.meeting_graphs import meeting_graphs
from conformance.runner.draws import numbered

DRAWN = [numbered(Choice(meeting_graphs().make, "meetings"), 0, number)[0] for number in range(20)]
NODES = [{node.id: node for node in graph.nodes} for graph in DRAWN]
MET = [[nodes[name] for name in node.of] for nodes in NODES for node in nodes.values() if node.arg == "all_reduce"]
FOLDED = [[nodes[name] for name in node.of] for nodes in NODES for node in nodes.values() if node.op == "all_reduce"]


def test_what_is_computed_meets_in_bytes_on_both_sides_of_a_line() -> None:
    computed = [of for of in MET if all(node.op == "alu" for node in of)]
    counts = {(prod(map(int, of[0].shape)) - 128 // NUMPY[of[0].dtype].itemsize) for of in computed}
    assert {-1, 0, 1} <= counts


def test_what_is_computed_meets_in_extents_that_are_variables() -> None:
    assert any(all(node.op == "alu" and "n" in node.shape for node in of) for of in FOLDED)


def test_devices_meet_in_every_graph() -> None:
    assert all(any(node.op in ("all_reduce", "collective") for node in graph.nodes) for graph in DRAWN)
