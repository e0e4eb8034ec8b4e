"""An all_reduce that tinygrad lowers is exported as one collective, whatever lies around it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.backends.tinygrad import TinyGrad, TinyGradAllToAll, TinyGradRing
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.builders import alu, graph, node, stored
from conformance.cases.schedule.schedule import Collective, Schedule
from conformance.specs.schedules import judge

DEVICES = ("d0", "d1", "d2")


def asked(*, results: tuple[str, ...] = ("y0", "y1", "y2"), made: bool = False) -> Graph:
    """Return the sum over three devices of x, or of a value ``made`` of it, beside another value of x0."""
    nodes = [stored(f"x{d}", (7,), device=at) for d, at in enumerate(DEVICES)]
    nodes += [alu(f"s{d}", "neg", f"x{d}", shape=(7,), device=at) for d, at in enumerate(DEVICES)]
    of = [f"{'s' if made else 'x'}{d}" for d in range(3)]
    nodes += [node(f"y{d}", "all_reduce", *of, shape=(7,), device=at, fold="add") for d, at in enumerate(DEVICES)]
    return graph(*nodes, node("z", "reduce", "x0", shape=(), arg=(0,), fold="max"), results=[*results, "z"])


def meeting(made: Schedule) -> Collective:
    (found,) = (item for item in made.items if isinstance(item, Collective))
    return found


@pytest.mark.parametrize("backend", [TinyGrad, TinyGradRing, TinyGradAllToAll])
@pytest.mark.parametrize("made", [False, True])
def test_an_all_reduce_is_a_collective_of_its_algorithm(backend: type[TinyGrad], made: bool) -> None:
    found = backend().schedule(asked(made=made))
    findings = {each.clause: each.finding for each in judge(found)}
    assert "broken" not in findings.values()
    assert findings["law.C1"] == findings["copies.C8"] == "held"
    assert (findings["copies.C9"] == "held") == (backend is TinyGradRing)
    whole = meeting(found)
    assert (whole.op, whole.participants, whole.attrs) == ("all_reduce", DEVICES, {"op": "sum"})
    assert whole.algorithm == {"all-to-all": "all_to_all"}.get(backend.algorithm, backend.algorithm)
    assert {access.node for part in whole.parts for access in part.accesses} == {None, "y0", "y1", "y2"}


def test_what_one_device_is_to_have_is_reduced_to_it() -> None:
    whole = meeting(TinyGradRing().schedule(asked(results=("y1",))))
    assert (whole.op, whole.attrs, whole.algorithm) == ("reduce", {"op": "sum", "root": 1}, "ring to one")


def test_copies_of_a_ring_the_other_way_round_are_seen() -> None:
    made = TinyGradRing().schedule(asked())
    whole = replace(meeting(made), participants=DEVICES[::-1])
    turned = replace(made, items=tuple(whole if item.id == whole.id else item for item in made.items))
    assert [each.clause for each in judge(turned) if each.finding == "broken"] == ["copies.C9"]
