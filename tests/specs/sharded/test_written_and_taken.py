"""Storage is written with its axes turned, whichever of them is cut, and parts of growing sizes are taken."""

from __future__ import annotations

import itertools

import pytest

from conformance.cases.sharded.case import ShardedCase
from conformance.runner.dialects import operations
from conformance.runner.draws import numbered

SEEDS = (0, 7)


def drawn(seed: int) -> list[ShardedCase]:
    """Return the cases of a run that list patterns."""
    domain = operations()["sharded"].suites["sharding"].domains["sharded"]
    return [numbered(domain, seed, number)[0] for number in range(5, 150, 16)]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_assign_goes_to_the_turned_storage_that_is_cut_along_either_axis(seed: int) -> None:
    found = set()
    for case in drawn(seed):
        nodes = {node.id: node for node in case.of.graph.nodes}
        for node in case.of.graph.nodes:
            target = nodes[node.of[0]] if node.op == "assign" else node
            if target.op == "permute" and nodes[target.of[0]].op == "buf" and node.op == "assign":
                found |= {split.axis for split in case.home(nodes[target.of[0]]).splits}
    assert found == {0, 1}


@pytest.mark.parametrize("seed", SEEDS)
def test_each_part_is_taken_where_parts_differ_in_size(seed: int) -> None:
    for case in drawn(seed):
        cuts = [split.cuts for home in case.homes.values() for split in home.splits if split.axis == 1]
        growing = [each for each in cuts if [b - a for a, b in itertools.pairwise(each)] == [*range(1, len(each))]]
        taken = {
            node.arg[1]
            for node in case.of.graph.nodes
            if node.op == "shrink" and isinstance(node.arg, tuple) and len(node.arg) > 1
        }
        if any(len(each) > 2 and set(itertools.pairwise(each)) <= taken for each in growing):
            return
    raise AssertionError("no case takes each of such parts")
