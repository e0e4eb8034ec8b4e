"""Draws at fixed numbers reach what chains of steps do not, whatever the seed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.backends.opencl import OpenCL
from conformance.judging.schedules.program_graph import with_graph
from conformance.runner.dialects.schedule import GRAPHS
from conformance.runner.draws import numbered
from conformance.specs.domains.steering.seldom_draws import EVERY, FIRST
from conformance.specs.schedules import judge
from conformance.specs.schedules.domain.seldom_graphs import KINDS

SPOKEN = {
    "split": {"splits.C1", "splits.C2", "splits.C3"},
    "of sizes": {"variables.C1", "variables.C2", "variables.C3", "variables.C4"},
    "split wide": {"splits.C1", "splits.C2", "splits.C3"},
    "constant copied": {"no_kernel.C14"},
    "copied back": {"no_kernel.C15"},
    "constant padded": {"no_kernel.C1"},
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_drawn_and_makes_its_clauses_speak(opencl: Callable[..., OpenCL], kind: str, seed: int) -> None:
    graph, _ = numbered(GRAPHS, seed, FIRST + EVERY * list(KINDS).index(kind))
    found = judge(with_graph(opencl().schedule(graph), graph))
    assert SPOKEN[kind] <= {each.clause for each in found if each.finding == "held"}
    assert not [each for each in found if each.finding == "broken"]
