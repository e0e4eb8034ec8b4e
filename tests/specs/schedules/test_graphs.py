"""Random graphs: well formed and computable, whatever values their variables have."""

from __future__ import annotations

from hypothesis import Phase, find, given, settings
from msgspec.structs import replace

from conformance.cases.graph.graph import Graph, variables_of
from conformance.cases.schedule.form import validate_schedule
from conformance.cases.schedule.schedule import Schedule
from conformance.generate.graphs.scheduled import graphs
from conformance.judging.schedules.program_graph import with_graph
from conformance.reference.schedule.eager import eager
from conformance.reference.schedule.facts import Facts
from conformance.runner.hypothesis_shrinker import strategy

NOTHING = Schedule(devices={}, buffers=(), items=())


def bound(asked: Graph, end: str) -> Graph:
    """Return the graph with all variables at one end of what they may be."""
    values = {name: replace(each, value=getattr(each, end)) for name, each in asked.variables.items()}
    return replace(asked, variables=values)


@settings(max_examples=60, deadline=None, derandomize=True, phases=[Phase.generate])
@given(strategy(graphs()))
def test_a_drawn_graph_has_a_meaning_for_the_least_and_the_greatest_values(asked: Graph) -> None:
    for end in ("low", "high"):
        made = with_graph(NOTHING, bound(asked, end))
        validate_schedule(made)
        assert set(asked.results) <= eager(Facts(made)).meanings.keys()


def test_variables_are_drawn_as_extents_and_as_values() -> None:
    quick = settings(max_examples=400, deadline=None, derandomize=True, phases=[Phase.generate], database=None)
    for op in ("shrink", "var"):
        found = find(
            strategy(graphs()),
            lambda asked, op=op: any(n.op == op and variables_of(n) for n in asked.nodes),
            settings=quick,
        )
        assert found.variables
