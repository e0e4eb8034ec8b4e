"""What an item only says by its provenance: it is taken for what it can have done, and no further."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import (
    alu,
    buffer,
    copy,
    elementwise,
    given,
    graph,
    line,
    node,
    opaque,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.schedule import Collective, Item, Schedule
from conformance.qualification.violations.variables import symbolic_shape_split
from tests.specs.schedules.test_excepted import finding

A, B = stored("a"), stored("b")


@pytest.mark.parametrize(("target", "said"), [("t", "broken"), ("a", "held")])
def test_order_c3_of_a_kernel_that_names_an_assign_and_writes_elsewhere(target: str, said: str) -> None:
    items: list[Item] = [
        elementwise("k", "move", writes("a", line(), node="w"), "b", provenance=("w",)),
        opaque("more", reads("b"), writes(target), provenance=("w",)),
    ]
    asked = graph(A, B, node("w", "assign", "a", "b"), results=["w"])
    assert finding("order.C3", schedule((*given("a", "b"), buffer("t")), items, asked)) == said


@pytest.mark.parametrize(("device", "said"), [("d0", "broken"), ("d1", "held")])
def test_order_c3_of_a_copy_that_names_a_forced_copy_to_another_device(device: str, said: str) -> None:
    nodes = (A, node("c", "copy", "a", device="d1", arg=True), alu("y", "neg", "a"))
    items: list[Item] = [
        opaque("k", reads("a"), writes("y", node="y"), provenance=("y",)),
        copy("send", "a", f"t{device}", provenance=("c",)),
    ]
    buffers = (*given("a"), buffer("y"), buffer("td0"), buffer("td1", device="d1"))
    assert finding("order.C3", schedule(buffers, items, graph(*nodes, results=["y"]), {"y": "y"})) == said


@pytest.mark.parametrize(("computed", "said"), [(("x",), "broken"), (("x", "y"), "held")])
def test_no_kernel_c6_of_an_item_that_names_values_without_elements_alone(computed: tuple[str, ...], said: str) -> None:
    nodes = (A, stored("e", (0,)), alu("x", "add", "e", "e", shape=(0,)), alu("y", "add", "a", "a"))
    items: list[Item] = [
        opaque("k", reads("a"), writes("y", node="y"), provenance=("y",)),
        opaque("n", reads("e"), provenance=computed),
    ]
    buffers = (*given("a"), buffer("e", 0, preexisting=True), buffer("y"))
    assert finding("no_kernel.C6", schedule(buffers, items, graph(*nodes, results=["y"]), {"y": "y"})) == said


def test_variables_c6_of_a_ring_whose_parts_name_what_it_makes() -> None:
    made = symbolic_shape_split.make()
    assert isinstance(made, Schedule)
    (ring,) = made.items
    assert isinstance(ring, Collective)
    parts = tuple(
        replace(
            part, accesses=tuple(replace(each, node=None) for each in part.accesses), provenance=(f"y{part.id[1:]}",)
        )
        for part in ring.parts
    )
    assert finding("variables.C6", replace(made, items=(replace(ring, parts=parts),))) == "broken"


def test_form_c8_of_a_place_that_is_larger_than_its_buffer() -> None:
    item = elementwise("k", "add", writes("base", line(), node="y"), "a", "a", provenance=("y",))
    for count, said in ((2, "broken"), (4, "held")):
        buffers = (*given("a"), buffer("base", 8), buffer("y", count, base="base"))
        made = schedule(buffers, [item], graph(A, alu("y", "add", "a", "a"), results=["y"]), {"y": "y"})
        assert finding("form.C8", made) == said


@pytest.mark.parametrize(
    ("clause", "alias"),
    [("no_kernel.C4", "reshape"), ("no_kernel.C5", "contig"), ("no_kernel.C8", "detach"), ("no_kernel.C13", "copy")],
)
@pytest.mark.parametrize("written", [True, False])
def test_a_kernel_that_names_a_value_by_what_hands_it_on_is_needed_where_no_other_writes_it(
    clause: str, alias: str, *, written: bool
) -> None:
    nodes = (A, alu("n", "neg", "a"), node("s", "contig", "n"), node("y", alias, "s"))
    first = opaque("s", reads("a"), writes("s", node="s"), provenance=("s",))
    items: list[Item] = [opaque("k", reads("s" if written else "a"), writes("y", node="y"), provenance=("y",))]
    buffers = (*given("a"), buffer("y"), *([buffer("s")] if written else []))
    made = schedule(buffers, [first, *items] if written else items, graph(*nodes, results=["y"]), {"y": "y"})
    assert finding(clause, made) == ("broken" if written else "held")
