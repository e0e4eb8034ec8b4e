"""The words that few schedules use: right engines that use them, wrong ones that misuse them."""

from __future__ import annotations

import pytest

from conformance.backends.base import Backend
from conformance.generate.graphs.scheduled import graphs
from conformance.judging.schedules.program_graph import with_graph
from conformance.qualification.legal_schedules import constructs as legal
from conformance.qualification.legal_schedules.engine import Legal
from conformance.qualification.qualify import qualify
from conformance.qualification.schedule_mutants import constructs
from conformance.runner.draws import numbered
from conformance.specs.schedules import judge

MUTANTS = [
    each
    for name, each in vars(constructs).items()
    if isinstance(each, type)
    and issubclass(each, Backend)
    and each.__module__ == constructs.__name__
    and name[0] != "_"
]
SLOW = pytest.mark.slow
WANTED = {
    *("dedup.C2", "dedup.C3", "fusion.C7", "splits.C1", "splits.C2", "splits.C3", "staging.C1", "staging.C2"),
    *("staging.C3", "replays.C1", "form.C12", "bodies.C7", "memory.C12"),
}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SLOW) for seed in range(1, 5))])
def test_drawn_graphs_reach_the_clauses_about_words_that_plain_schedules_have_no_use_for(seed: int) -> None:
    engines = [each for each in vars(legal).values() if isinstance(each, type) and issubclass(each, Legal)]
    spoke: set[str] = set()
    for number in range(12):
        asked, _ = numbered(graphs(), seed, number)
        if max((extent for node in asked.nodes for extent in node.shape if isinstance(extent, int)), default=0) > 1000:
            continue
        for engine in engines:
            if engine is not Legal:
                found = judge(with_graph(engine().schedule(asked), asked))
                spoke |= {each.clause for each in found if each.finding != "silent"}
    assert WANTED - spoke == set()


LONG = ("NegatesBySubtraction", "NoTwoNodesAreOne", "PartsKeptNarrow")
"""Mutants that few drawn graphs show: more than a hundred are asked until one does."""

DEALT = [pytest.param(each, marks=[SLOW] * (each.__name__ in LONG), id=each.__name__) for each in MUTANTS]


@pytest.mark.parametrize("mutant", DEALT)
def test_every_misuse_is_seen_by_its_clause(mutant: type[Backend]) -> None:
    # As many as hold, whatever was added to what is drawn, two nodes that are one value.
    (row,) = qualify([mutant], examples=240, seed=0).mutants
    assert (row.problem or "", mutant.breaks in row.clauses) == ("", True)
