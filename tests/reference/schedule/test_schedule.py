"""The executing oracle: memory, orders, eager graphs, and that it sees what a wrong schedule does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from conformance.cases.graph.buffer import Bounds
from conformance.cases.graph.elementwise import ARITY, COMPARISONS, TAKES
from conformance.cases.graph.graph import Function
from conformance.cases.schedule.builders import (
    alu,
    buffer,
    elementwise,
    given,
    graph,
    line,
    node,
    opaque,
    reads,
    schedule,
    stored,
    tensor,
    writes,
)
from conformance.cases.schedule.kernel_body import Body, Constant, Store
from conformance.cases.schedule.runs import merged
from conformance.cases.schedule.schedule import Collective, Kernel, Schedule, Wait
from conformance.cases.tensor.dtypes import DRAWN, NUMPY, kind
from conformance.qualification.violations import violations
from conformance.reference.byte_ranges import common, joined, overlap, without
from conformance.reference.graph.elementwise import apply, fold, identity
from conformance.reference.schedule.comparison import difference
from conformance.reference.schedule.data import initial
from conformance.reference.schedule.eager import eager
from conformance.reference.schedule.execute import changes_nothing, law, run, wrong_as_listed
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.graph import evaluate_graph, worth
from conformance.reference.schedule.orders import DRAWN_ORDERS, legal_orders
from conformance.reference.schedule.points import crossing

RANGES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=5).map(
    lambda pairs: merged(np.array([(start, start + size) for start, size in pairs], np.int64).reshape(-1, 2))
)


def numbers(ranges: np.ndarray) -> set[int]:
    return {number for start, stop in ranges for number in range(start, stop)}


@settings(max_examples=200, deadline=None)
@drawn(RANGES, RANGES)
def test_ranges_are_sets(first: np.ndarray, second: np.ndarray) -> None:
    mine, theirs = numbers(first), numbers(second)
    assert overlap(first, second) == bool(mine & theirs)
    assert numbers(joined(first, second)) == mine | theirs
    assert numbers(without(first, second)) == mine - theirs
    assert numbers(common(first, second)) == mine & theirs


WRONG = [
    "reader_before_writer", "transposed_in_place", "reduced_in_place", "assigned_before_it_was_read",
    "swapped_without_a_third", "read_before_it_was_assigned", "earlier_assign_wins", "whole_buffer_written",
    "slice_written_in_part", "assigned_elsewhere", "input_taken_for_output", "one_replica_assigned",
    "buffer_given_away_too_early", "another_operation", "pad_pushed_through_exp2",
    "base_not_reached_through_its_view", "live_source_reduced_in_place",
]  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_schedule_that_is_wrong_gives_other_values(name: str) -> None:
    made = next(each for each in violations() if each.name == name).make()
    assert isinstance(made, Schedule)
    assert wrong_as_listed(Facts(made)) is not None


def test_the_law_names_the_result_and_the_element() -> None:
    made = next(each for each in violations() if each.name == "another_operation").make()
    assert isinstance(made, Schedule)
    assert "result 'y': 4 of 4 elements differ; element 0 is 1.0, expected 3.0" in (law(Facts(made)) or "")


def orders(*after: tuple[int, ...] | None) -> list[tuple[int, ...]]:
    """Return the orders of items that all write one buffer, after those named."""
    edges = [None if each is None else tuple(f"k{n}" for n in each) for each in after]
    items = [opaque(f"k{number}", writes("x"), after=each) for number, each in enumerate(edges)]
    return list(legal_orders(Facts(schedule([buffer("x")], items))))


def test_all_permitted_orders_are_taken_where_they_are_few_whatever_conflicts() -> None:
    assert orders((), (0,), (1,)) == [(0, 1, 2)]
    assert orders(None, None, ()) == [(0, 1, 2), (0, 2, 1), (2, 0, 1)]
    assert len(orders((), (), ())) == 6


def test_orders_are_drawn_where_they_are_many_and_each_keeps_the_edges() -> None:
    found = orders(*[()] * 5, (0,), (4, 5))
    assert len(found) == DRAWN_ORDERS
    assert found[0] == tuple(range(7))
    assert len(set(found)) > 40
    assert all(order.index(0) < order.index(5) < order.index(6) > order.index(4) for order in found)


def test_what_is_only_listed_keeps_its_conflicts() -> None:
    assert len(orders(*[None] * 300)) == 1
    copies = [opaque(f"k{n}", reads(source), writes(target)) for n, (source, target) in enumerate(["ax", "ba", "by"])]
    made = schedule([buffer(name, preexisting=True) for name in "abxy"], copies)
    assert list(legal_orders(Facts(made))) == [(0, 1, 2), (0, 2, 1), (2, 0, 1)]


def negated(after: tuple[str, ...] | None, handle: str | None = None, *, late: bool = False) -> Facts:
    """Return n = -a and y = -n; y is after what is said, or waits for n before it, or afterwards."""
    nodes = (stored("a"), alu("n", "neg", "a"), alu("y", "neg", "n"))
    items = [elementwise("n", "neg", "n", "a", handle=handle), elementwise("y", "neg", "y", "n", after=after)]
    if handle is not None:
        items.insert(2 if late else 1, Wait(id="w", handle=handle))
    return Facts(schedule((*given("a"), buffer("n"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"}))


def test_the_law_alone_sees_a_missing_edge_and_a_late_wait() -> None:
    for right in (negated(None), negated(("n",)), negated(None, "h"), negated(("w",), "h"), negated(("n",), "h")):
        assert law(right) is None
    for wrong in (negated(()), negated(None, "h", late=True), negated((), "h")):
        assert wrong_as_listed(wrong) is None
        assert "when run in the order y, n" in (law(wrong) or "")


def test_an_order_in_which_a_collective_reads_too_early_what_it_is_told_differs() -> None:
    body = Body(extents=(1,), instructions=(Constant(value=tensor(0, "int32")), Store(access=0, of=0)))
    told = Kernel(id="told", device="d0", accesses=(writes("n", line(1)),), bodies=(body,))
    own = (*(reads(name) for name in ("a", "a", "n", "n", "n", "n")), writes("x"))
    met = Collective(id="met", op="ragged_all_to_all", participants=("d0",), group="g", accesses=own, after=())
    buffers = (*given("a"), buffer("n", 1, "int32"), buffer("x"))
    facts = Facts(schedule(buffers, [told, met], graph(stored("a"), results=["a"])))
    assert wrong_as_listed(facts) is None
    assert "when run in the order met, told" in (law(facts) or "")


@pytest.mark.parametrize("dtype", DRAWN)
def test_folds_begin_with_the_identity(dtype: str) -> None:
    values = np.array([3, 1, 2], np.int64).astype(NUMPY[dtype])
    names = ["add", "mul"] if kind(dtype) == "complex" else ["add", "mul", "max", "min"]
    for op in names + (["and", "or", "xor"] if kind(dtype) in {"bool", "integer"} else []):
        neutral = np.full(3, identity(op, NUMPY[dtype]), NUMPY[dtype])
        np.testing.assert_array_equal(apply(op, [neutral, values]), values)
        assert fold(op, values.reshape(3, 1)[:0], [0]).tolist() == [neutral[0]]


def test_folds_round_after_every_step_from_the_left() -> None:
    values = np.array([[2048, 1, 1, -2048]], np.float16)
    assert fold("add", values, [1]).tolist() == [0]
    assert fold("add", values[:, ::-1], [1]).tolist() == [2]


def test_integer_division_truncates() -> None:
    left, right = np.array([7, -7, 7, -7], np.int8), np.array([2, 2, -2, -2], np.int8)
    assert apply("div", [left, right]).tolist() == [3, -3, -3, 3]
    assert apply("mod", [left, right]).tolist() == [1, -1, 1, -1]


def meaning(*nodes: object, functions: dict[str, Function] | None = None, **variables: int) -> tuple[object, object]:
    """Return what a graph over the buffer a = 0..5 gives, and a afterwards."""
    wanted = graph(*nodes, results=[nodes[-1].id], functions=functions)
    bounds = {name: Bounds(low=value, high=value) for name, value in variables.items()}
    facts = Facts(schedule(given("a", count=6), [], wanted, variables=bounds))
    memory = initial(facts)
    memory.array("a")[:] = np.arange(6)
    found = evaluate_graph(wanted, memory, facts.values)
    return worth(found.meanings[wanted.results[0]], memory).tolist(), memory.array("a").tolist()


SIX = stored("a", (2, 3))


def test_movement_names_storage_and_is_worth_what_is_there_when_it_is_used() -> None:
    turned = node("t", "permute", "a", shape=(3, 2), arg=(1, 0))
    row = node("l", "shrink", "a", shape=(1, 3), arg=((1, 2), (0, 3)))
    nine = node("9", "const", shape=(1, 3), arg=tensor(9))
    assigned = node("w", "assign", "l", "9", shape=(1, 3))
    assert meaning(SIX, turned) == ([[0, 3], [1, 4], [2, 5]], [0, 1, 2, 3, 4, 5])
    after = alu("y", "add", "t", "t", shape=(3, 2))
    assert meaning(SIX, turned, row, nine, assigned, after) == ([[0, 18], [2, 18], [4, 18]], [0, 1, 2, 9, 9, 9])
    early = alu("y", "add", "t", "t", shape=(3, 2))
    kept = node("z", "contig", "y", shape=(3, 2))
    assert meaning(SIX, turned, early, row, nine, assigned, kept)[0] == [[0, 6], [2, 8], [4, 10]]


def test_pads_read_zero_and_reduces_drop_their_axes() -> None:
    padded = node("p", "pad", "a", shape=(2, 5), arg=((0, 0), (1, 1)))
    assert meaning(SIX, padded)[0] == [[0, 0, 1, 2, 0], [0, 3, 4, 5, 0]]
    assert meaning(SIX, padded, node("m", "reduce", "p", shape=(5,), arg=(0,), fold="max"))[0] == [0, 3, 4, 5, 0]


def test_symbolic_extents_are_those_of_the_variable() -> None:
    part = node("l", "shrink", "a", shape=(2, "n"), arg=((0, 2), (0, "n")))
    assert meaning(SIX, part, node("s", "reduce", "l", shape=(2,), arg=(1,), fold="add"), n=2)[0] == [1, 7]


def test_a_call_is_its_function_of_the_arguments() -> None:
    parameter = node("p", "param", shape=(2, 3), arg=0)
    twice = Function(nodes=(parameter, alu("r", "add", "p", "p", shape=(2, 3))), result="r")
    called = node("y", "call", "a", shape=(2, 3), arg="f")
    assert meaning(SIX, called, functions={"f": twice})[0] == [[0, 2, 4], [6, 8, 10]]


def test_an_opaque_collective_is_the_operation_of_the_specification() -> None:
    buffers = [buffer(f"{name}{d}", device=f"d{d}", preexisting=name == "x") for d in range(2) for name in "xy"]
    nodes = [stored(f"x{d}", device=f"d{d}") for d in range(2)]
    nodes += [node(f"y{d}", "all_reduce", "x0", "x1", device=f"d{d}", fold="max") for d in range(2)]
    own = (reads("x0"), reads("x1"), writes("y0"), writes("y1"))
    item = Collective(id="r", op="all_reduce", attrs={"op": "max"}, participants=("d0", "d1"), group="g", accesses=own)
    made = schedule(buffers, [item], graph(*nodes, results=["y0", "y1"]), {"y0": "y0", "y1": "y1"})
    assert law(Facts(made)) is None


def test_a_stray_write_is_seen_bit_for_bit() -> None:
    nodes = (
        stored("a"),
        node("l", "shrink", "a", shape=(2,), arg=((0, 2),)),
        node("9", "const", shape=(2,), arg=tensor(9)),
    )
    wanted = graph(*nodes, node("w", "assign", "l", "9", shape=(2,)), results=["w"])
    facts = Facts(schedule(given("a"), [], wanted))
    memory, right = initial(facts), eager(facts)
    assert "of what is assigned there, 2 of 2 elements differ" in (difference(facts, memory, right) or "")
    memory.array("a")[:2] = 9
    assert difference(facts, memory, right) is None
    memory.array("a")[3:] *= -1
    assert "byte 15 changed, and nothing is assigned there" in (difference(facts, memory, right) or "")


def test_a_kernel_that_reads_where_it_writes_is_not_run_point_by_point() -> None:
    """A million points take seconds one by one."""
    count = 1 << 20
    nodes = (stored("a", (count,)), alu("s", "add", "a", "a", shape=(count,)))
    wanted = graph(*nodes, node("w", "assign", "a", "s", shape=(count,)), results=["w"])
    twice = elementwise("k", "add", writes("a", line(count), node="w"), "a", "a", shape=(count,), provenance=("s", "w"))
    facts = Facts(schedule(given("a", count=count), [twice], wanted))
    assert difference(facts, run(facts), eager(facts)) is None


def test_parts_of_elements_are_seen_to_cross() -> None:
    """A float32 buffer, read as bytes one place further on, is written as words."""
    view = buffer("v", 12, "int8", base="a", offset=1)
    item = opaque("k", reads("v", line(3, 3)), writes("a", line(3)))
    facts = Facts(schedule((*given("a"), view), [item]))
    read, written = facts.touches[0]
    assert crossing(facts, 0, read, written) == 3


@pytest.mark.parametrize("dtype", DRAWN)
def test_what_an_operation_takes_it_computes_in_the_same_dtype(dtype: str) -> None:
    values = np.array([1, 1, 0, 1]).astype(NUMPY[dtype])
    for op, arity in ARITY.items():
        if kind(dtype) in TAKES.get(op, {kind(dtype)}):
            of = [np.array([True, False, True, True]), values, values] if op == "where" else [values] * arity
            assert apply(op, of).dtype == (np.bool_ if op in COMPARISONS else NUMPY[dtype]), op


def test_an_assign_that_changes_only_the_end_of_a_row_changes_something() -> None:
    row = {"shape": (1, 4)}
    moved = node("last", "shrink", "a", shape=(1, 1), arg=((0, 1), (3, 4)))
    asked = graph(
        stored("a", **row), moved, alu("neg", "neg", "last", shape=(1, 1)),
        node("padded", "pad", "neg", arg=((0, 0), (3, 0)), **row),
        node("front", "shrink", "a", shape=(1, 3), arg=((0, 1), (0, 3))),
        node("rest", "pad", "front", arg=((0, 0), (0, 1)), **row), alu("new", "add", "padded", "rest", **row),
        node("w", "assign", "a", "new", **row), results=["w"],
    )  # fmt: skip
    assert not changes_nothing(Facts(schedule(given("a"), [], asked)), "w")


def test_an_assign_of_what_is_there_by_whatever_way_changes_nothing() -> None:
    twice = (stored("a"), alu("n", "neg", "a"), alu("m", "neg", "n"))
    wanted = graph(*twice, node("w", "assign", "a", "m"), node("v", "assign", "a", "n"), results=["v"])
    facts = Facts(schedule(given("a"), [], wanted))
    assert [changes_nothing(facts, name) for name in ("w", "v")] == [True, False]
