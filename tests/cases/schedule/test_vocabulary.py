"""What schedules can say since their second format: expressions, parts, phases, data-dependent indices and calls."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.graph.buffer import Bounds
from conformance.cases.graph.extent import evaluated, greatest, names_in
from conformance.cases.graph.graph import Variable
from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    elementwise,
    given,
    graph,
    line,
    node,
    reads,
    schedule,
    stored,
    tensor,
    writes,
)
from conformance.cases.schedule.codec import parse, text
from conformance.cases.schedule.form import validate_schedule
from conformance.cases.schedule.index_map import Affine, elements
from conformance.cases.schedule.inlining import inlined
from conformance.cases.schedule.kernel_body import Alu, Body, Constant, Fetch, Index, Load, Reduce, Store
from conformance.cases.schedule.runs import runs
from conformance.cases.schedule.schedule import Access, Binding, Call, Kernel, Schedule, Sequence
from conformance.cases.schedule_error import ScheduleError
from conformance.specs.schedules import judge


def broken(made: Schedule) -> dict[str, str]:
    return {each.clause: each.detail for each in judge(parse(text(made).encode())) if each.finding == "broken"}


def test_an_extent_is_a_number_a_name_or_an_expression() -> None:
    dims = (4, "n", "n + 1", "n * m", "(m - n) * 2", "m // 2", "m % 2")
    assert [evaluated(dim, {"n": 3, "m": 5}) for dim in dims] == [4, 3, 4, 15, 4, 2, 1]
    assert names_in("n * m + 1") == {"n", "m"}
    assert (names_in("start pos"), names_in("n // m")) == ({"start pos"}, {"n // m"})
    assert greatest("n - m", {"n": 1, "m": 2}, {"n": 8, "m": 3}) == 6


def test_a_packed_matrix_of_two_variables_is_addressed_with_a_pad_of_as_many_rows_as_there_are() -> None:
    rows = Affine(extents=("n + 1", "m"), strides=(0, 1), scales={"m": (1, 0)}, mask=((0, "n"), (0, "m")))
    found, valid = elements((rows,), {"n": 2, "m": 3})
    assert found.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert valid.tolist() == [[True] * 3, [True] * 3, [False] * 3]
    assert runs((rows,), {"n": 2, "m": 3}).tolist() == [[0, 6]]


def test_an_expression_of_what_is_not_declared_is_refused() -> None:
    made = schedule((buffer("t", shape=("n + q",)),), [], variables={"n": Bounds(low=1, high=2)})
    with pytest.raises(ScheduleError, match=r"variable 'q' is not declared"):
        validate_schedule(made)


def test_a_schedule_of_extents_that_are_expressions_is_run() -> None:
    """Y = the flattened a[:n] beside itself, n * 2 elements, negated."""
    shown = (Affine(extents=("n * 2",), strides=(1,)),)
    body = Body(extents=("n * 2",), instructions=(Load(access=0), Alu(op="neg", of=(0,)), Store(access=1, of=1)))
    kernel = elementwise("k", "neg", "y", "a")
    kernel = replace(
        kernel, accesses=(reads("a", shown), writes("y", shown, node="y")), bodies=(body,), provenance=("y",),
        variables=(Binding("n", 2),),
    )  # fmt: skip
    nodes = (
        stored("a", ("n", 2)), node("flat", "reshape", "a", shape=("n * 2",)), alu("y", "neg", "flat", shape=("n * 2",))
    )  # fmt: skip
    wanted = graph(*nodes, results=["y"], variables={"n": Variable(low=1, high=4, value=2)})
    buffers = (buffer("a", 8, preexisting=True), buffer("y", 8, shape=("n * 2",)))
    made = schedule(buffers, [kernel], wanted, {"y": "y"}, variables={"n": Bounds(low=1, high=4)})
    assert broken(made) == {}
    assert "variables.C5" in broken(replace(made, buffers=(buffers[0], replace(buffers[1], size=28))))


def looked_up(clamped: bool) -> Schedule:
    """Return y = take(a, i), whose indices are clamped to the table or not."""
    table = (Affine(extents=(3, 4), strides=(0, 1)),)
    code = [Load(access=0)]
    if clamped:
        bound = [Constant(value=tensor(value, "int32")) for value in (0, 3)]
        code += [bound[0], Alu(op="max", of=(0, 1)), bound[1], Alu(op="min", of=(2, 3))]
    code += [Fetch(access=1, at=(len(code) - 1,)), Store(access=2, of=len(code))]
    own = (reads("i", line(3)), reads("a", table), writes("y", line(3), node="y"))
    kernel = Kernel(id="k", device="d0", accesses=own, provenance=("y",),
                    bodies=(Body(extents=(3,), instructions=tuple(code)),))  # fmt: skip
    nodes = (stored("a"), stored("i", (3,), dtype="int32"), node("y", "gather", "a", "i", shape=(3,), arg=0))
    buffers = (*given("a"), buffer("i", 3, "int32", preexisting=True), buffer("y", 3))
    return schedule(buffers, [kernel], graph(*nodes, results=["y"]), {"y": "y"})


def test_an_element_can_be_taken_where_data_say() -> None:
    assert broken(looked_up(clamped=True)) == {}


def test_a_reduce_says_in_which_dtype_it_folds() -> None:
    body = Body(extents=(4,), instructions=(Load(access=0), Reduce(op="add", of=0, axes=(0,), acc="float32"),
                                            Store(access=1, of=1)))  # fmt: skip
    write = writes("y", (Affine(extents=(4,), strides=(0,)),), node="y")
    item = Kernel(id="k", device="d0", accesses=(reads("a", line()), write), bodies=(body,), provenance=("y",))
    nodes = (stored("a", dtype="float16"), node("y", "reduce", "a", shape=(), arg=(0,), fold="add", acc="float32",
                                                dtype="float16"))  # fmt: skip
    buffers = (buffer("a", dtype="float16", preexisting=True), buffer("y", 1, "float16"))
    assert broken(schedule(buffers, [item], graph(*nodes, results=["y"]), {"y": "y"})) == {}
    assert "acc" in text(schedule(buffers, [item]))


def staged(*, phase: int = 1) -> Schedule:
    """Return y = a backwards, by way of local memory, a group of two points for each half; with its barrier or none."""
    mine = (Affine(extents=(2, 2), strides=(2, 1)),)
    other = (Affine(extents=(2, 2), strides=(2, -1), offset=1),)
    bodies = (
        Body(extents=(2, 2), instructions=(Load(access=0), Store(access=1, of=0)), groups=1),
        Body(extents=(2, 2), instructions=(Load(access=2), Store(access=3, of=0)), groups=1, phase=phase),
    )
    back = (Affine(extents=(2, 2), strides=(-2, 1), offset=2),)
    own = (reads("a", mine), writes("tile", mine), reads("tile", other), writes("y", back, node="y"))
    kernel = Kernel(id="k", device="d0", accesses=own, bodies=bodies, provenance=("y",))
    nodes = (stored("a"), node("f", "flip", "a", arg=(0,)), alu("n", "abs", "f"), node("y", "contig", "f"))
    buffers = (*given("a"), buffer("tile", local=True), buffer("y"))
    return schedule(buffers, [kernel], graph(nodes[0], nodes[1], nodes[3], results=["y"]), {"y": "y"})


def test_a_kernel_stages_what_it_reads_in_local_memory_behind_a_barrier() -> None:
    assert broken(staged()) == {}


def replayed(*second: str) -> Schedule:
    """Return y = a + 1 and z = b + 1 by one captured kernel, called twice."""
    inner = elementwise("add", "add", writes("out", line()), "in", 1.0)
    captured = Sequence(parameters=2, buffers=(buffer("in"), buffer("out")), items=(inner,))
    calls = [
        Call(id=f"call {made}", sequence="f", buffers=used, provenance=(made,))
        for made, used in (("y", ("a", "y")), ("z", second or ("b", "z")))
    ]
    nodes = (stored("a"), stored("b"), constant("1"), alu("y", "add", "a", "1"), alu("z", "add", "b", "1"))
    made = schedule((*given("a", "b"), buffer("y"), buffer("z")), calls, graph(*nodes, results=["y", "z"]),
                    {"y": "y", "z": "z"})  # fmt: skip
    return replace(made, sequences={"f": captured})


def test_a_captured_sequence_is_done_again_on_other_buffers() -> None:
    assert [item.id for item in inlined(replayed()).items] == ["call y/add", "call z/add"]
    assert broken(replayed()) == {}
    assert broken(replayed("a", "z")).keys() == {"law.C1"}


def test_a_call_that_does_not_fit_its_sequence_is_refused() -> None:
    for found, why in ((("b",), "1 buffers for 2 parameters"), (("b", "q"), "'q' is not declared")):
        with pytest.raises(ScheduleError, match=why):
            validate_schedule(replayed(*found))


def test_a_call_waits_for_what_it_is_after_and_its_items_for_each_other() -> None:
    first, second = inlined(replayed()).items
    assert (first.after, second.after) == (None, None)
    late = replace(replayed().items[1], after=("call y",))
    assert inlined(replace(replayed(), items=(replayed().items[0], late))).items[1].after == ("call y/add",)


def test_files_of_the_first_format_are_still_read() -> None:
    old = text(replace(replayed(), items=(), sequences={})).replace('"format": 2', '"format": 1')
    assert np.all([item is not None for item in parse(old.encode()).buffers])
    assert Index(axis=0)
    assert Access(buffer="a").parts == 0
