"""tinygrad's schedules in the neutral form: the checkers and the executing oracle judge them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.base import Unsupported
from conformance.backends.index_fit import Touched, fit, fit_all
from conformance.backends.tinygrad import TinyGrad
from conformance.cases.graph.extent import Values
from conformance.cases.graph.graph import Graph, Node, Variable
from conformance.cases.schedule.builders import alu, constant, graph, node, stored
from conformance.cases.schedule.index_map import Affine, Indices, elements
from conformance.cases.schedule.schedule import Binding, Copy, Kernel, Schedule
from conformance.reference.schedule.execute import executable
from conformance.reference.schedule.facts import Facts
from conformance.specs.schedules import judge, judge_two

A = stored("a", shape=(2, 3))


def moved(name: str, op: str, of: str, shape: tuple[int | str, ...], arg: object = None, **rest: object) -> Node:
    return node(name, op, of, shape=shape, arg=arg, **rest)


SUM = node("sum", "reduce", "a", shape=(3,), arg=(0,), fold="add")
N = {"n": Variable(low=1, high=3, value=2)}
PART = moved("part", "shrink", "a", (2, "n"), ((0, 2), (0, "n")))
FLAT = moved("flat", "reshape", "turned", (10,))
GRAPHS = {
    "elementwise": graph(A, constant("1", shape=(2, 3)), alu("b", "add", "a", "1", shape=(2, 3)), results=["b"]),
    "reduce": graph(A, SUM, alu("b", "sqrt", "sum", shape=(3,)), results=["b"]),
    "reduce and broadcast": graph(
        A,
        SUM,
        moved("row", "reshape", "sum", (1, 3)),
        moved("rows", "expand", "row", (2, 3)),
        alu("b", "sub", "a", "rows", shape=(2, 3)),
        results=["b"],
    ),
    "pad, permute, reshape": graph(
        A,
        moved("padded", "pad", "a", (2, 5), ((0, 0), (1, 1))),
        moved("turned", "permute", "padded", (5, 2), (1, 0)),
        FLAT,
        alu("b", "exp2", "flat", shape=(10,)),
        results=["b"],
    ),
    "view of a padded value": graph(
        A,
        alu("neg", "neg", "a", shape=(2, 3)),
        moved("padded", "pad", "neg", (2, 5), ((0, 0), (1, 1))),
        moved("turned", "permute", "padded", (5, 2), (1, 0)),
        FLAT,
        results=["flat"],
    ),
    "view": graph(A, moved("b", "permute", "a", (3, 2), (1, 0)), results=["b"]),
    "assign": graph(
        A, alu("neg", "neg", "a", shape=(2, 3)), node("b", "assign", "a", "neg", shape=(2, 3)), results=["b"]
    ),
    **{
        f"{op} of what is overwritten": graph(
            A, moved("kept", op, "a", (2, 3)), node("c", "assign", "a", "kept", shape=(2, 3)),
            alu("neg", "neg", "a", shape=(2, 3)), node("d", "assign", "a", "neg", shape=(2, 3)), results=["kept", "d"],
        )
        for op in ("contig", "copy", "cast", "bitcast")
    },
    "part": graph(
        A, PART, alu("b", "neg", "part", shape=(2, "n")), moved("c", "flip", "b", (2, "n"), (1,)), results=["b", "c"],
        variables=N,
    ),
    "reduce of a part": graph(
        A, PART, moved("b", "reduce", "part", (2,), (1,), fold="max"), results=["b"], variables=N
    ),
    "assign to a part": graph(
        stored("a", shape=(3,)), moved("part", "shrink", "a", ("n",), ((0, "n"),)),
        alu("neg", "neg", "part", shape=("n",)),
        node("b", "assign", "part", "neg", shape=("n",)), results=["b"], variables=N,
    ),
    "assign to a part of which nothing is asked": graph(
        A, PART, alu("neg", "neg", "part", shape=(2, "n")), node("b", "assign", "part", "neg", shape=(2, "n")),
        constant("0", shape=(2, "n")), alu("c", "mul", "b", "0", shape=(2, "n")), results=["c"], variables=N,
    ),
    "assign of a copy of what was assigned": graph(
        A, stored("e", shape=(2, 3)), node("b", "assign", "e", "a", shape=(2, 3)), moved("c", "copy", "b", (2, 3)),
        node("d", "assign", "e", "c", shape=(2, 3)), results=["b"],
    ),
    "forced copy that nothing reads": graph(
        A, moved("b", "copy", "a", (2, 3), arg=True), alu("c", "lt", "b", "b", shape=(2, 3), dtype="bool"),
        results=["c"],
    ),
    "contig of a contig": graph(
        A, alu("neg", "neg", "a", shape=(2, 3)), moved("b", "contig", "neg", (2, 3)), moved("c", "contig", "b", (2, 3)),
        results=["c"],
    ),
    "value": graph(
        A, node("n", "var", shape=(), dtype="int32", arg="n"), moved("f", "cast", "n", ()),
        moved("one", "reshape", "f", (1, 1)), moved("all", "expand", "one", (2, 3)),
        alu("b", "mul", "a", "all", shape=(2, 3)), results=["b"], variables=N,
    ),
    "copy": graph(
        A, moved("there", "copy", "a", (2, 3), device="d1"), alu("b", "neg", "there", shape=(2, 3), device="d1"),
        results=["b"],
    ),
}  # fmt: skip


def broken(schedule: Schedule) -> dict[str, str]:
    return {found.clause: found.detail for found in judge(schedule) if found.finding == "broken"}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_schedule_of_a_graph_keeps_every_clause(tinygrad: TinyGrad, name: str) -> None:
    made = tinygrad.schedule(GRAPHS[name])
    assert executable(Facts(made)) is None
    assert broken(made) == {}


@pytest.mark.parametrize("name", ["part", "reduce of a part", "assign to a part", "value"])
def test_what_a_kernel_of_a_variable_computes_follows_its_value(tinygrad: TinyGrad, name: str) -> None:
    asked = GRAPHS[name]
    for value in (1, 3):
        made = tinygrad.schedule(replace(asked, variables={"n": Variable(low=1, high=3, value=value)}))
        told = [item.variables for item in made.items if isinstance(item, Kernel)]
        assert set(told) == {(Binding("n", value),)}
        assert broken(made) == {}


def test_a_buffer_of_symbolic_shape_says_so(tinygrad: TinyGrad) -> None:
    made = tinygrad.schedule(GRAPHS["part"])
    assert [(buffer.shape, buffer.size) for buffer in made.buffers if buffer.shape is not None] == [((2, "n"), 24)]


@pytest.mark.parametrize("name", GRAPHS)
def test_order_c6_nothing_remains_of_what_was_realized(tinygrad: TinyGrad, name: str) -> None:
    made, remaining = tinygrad.schedule(GRAPHS[name]), tinygrad.remaining(GRAPHS[name])
    wanted = "held" if made.items else "silent"
    assert [each.finding for each in judge_two(made, remaining, "afterwards")] == [wanted]


def test_a_variable_and_a_computed_contiguous_value_stay_unevaluated(tinygrad: TinyGrad) -> None:
    asked = graph(
        *GRAPHS["value"].nodes[:-1], alu("neg", "neg", "a", shape=(2, 3)), moved("kept", "contig", "neg", (2, 3)),
        alu("b", "mul", "kept", "all", shape=(2, 3)), results=["b"], variables=N,
    )  # fmt: skip
    made = tinygrad.schedule(asked)
    assert "is in no buffer at the end" in broken(made)["order.C2"]
    assert [each.clause for each in judge_two(made, tinygrad.remaining(asked), "afterwards") if each.detail] == [
        "order.C6"
    ]


def test_variables_c7_another_value_takes_the_same_kernels(tinygrad: TinyGrad) -> None:
    for name in ("part", "reduce of a part", "assign to a part", "value"):
        other = replace(GRAPHS[name], variables={"n": Variable(low=1, high=3, value=3)})
        found = judge_two(tinygrad.schedule(GRAPHS[name]), tinygrad.schedule(other), "rebound")
        assert [each.finding for each in found] == ["held"]


def test_a_view_needs_no_item(tinygrad: TinyGrad) -> None:
    assert tinygrad.schedule(GRAPHS["view"]).items == ()


def all_reduce(count: int, devices: int) -> Graph:
    names = [f"d{number}" for number in range(devices)]
    given = [stored(f"a{name}", shape=(count,), device=name) for name in names]
    sums = [
        node(f"b{name}", "all_reduce", *(each.id for each in given), shape=(count,), device=name, fold="add")
        for name in names
    ]
    return graph(*given, *sums, results=[each.id for each in sums])


def test_every_all_reduce_keeps_every_clause(mode: TinyGrad) -> None:
    made = mode.schedule(all_reduce(12, 3))
    assert executable(Facts(made)) is None
    assert broken(made) == {}
    device = {buffer.id: buffer.device for buffer in made.buffers}
    edges = Counter(
        (device[item.accesses[0].buffer], device[item.accesses[1].buffer])
        for item in Facts(made).leaves
        if isinstance(item, Copy)
    )
    ring = {("d0", "d1"), ("d1", "d2"), ("d2", "d0")}
    assert (set(edges) == ring) == (mode.algorithm == "ring")
    assert edges.total() == {"naive": 6, "ring": 12, "all-to-all": 12}[mode.algorithm]


def test_a_constant_is_stored_where_its_node_is_before_it_is_reduced_over_devices(mode: TinyGrad) -> None:
    asked = all_reduce(12, 3)
    first = constant("ad0", shape=(12,), device="d0")
    assert broken(mode.schedule(replace(asked, nodes=(first, *asked.nodes[1:])))) == {}


def test_planned_buffers_lie_in_arenas(tinygrad: TinyGrad) -> None:
    made = tinygrad.schedule(GRAPHS["reduce and broadcast"])
    (planned,) = (buffer for buffer in made.buffers if buffer.planned)
    assert planned.base in {buffer.id for buffer in made.buffers if buffer.base is None}
    assert "sum" not in {place.node for place in made.places}


def test_an_assign_to_a_view_reaches_what_was_read_before_it(tinygrad: TinyGrad) -> None:
    asked = graph(
        stored("a"),
        alu("old", "neg", "a"),
        moved("part", "shrink", "a", (2,), ((1, 3),)),
        alu("new", "abs", "part", shape=(2,)),
        node("done", "assign", "part", "new", shape=(2,)),
        results=["old", "done"],
    )
    assert "which comes later in the program" in broken(tinygrad.schedule(asked))["assign.C6"]


def test_a_buffer_assigned_to_its_own_mirror_is_read_where_it_was_written(tinygrad: TinyGrad) -> None:
    asked = graph(
        stored("a"),
        moved("mirror", "flip", "a", (4,), (0,)),
        alu("neg", "neg", "a"),
        node("done", "assign", "mirror", "neg"),
        results=["done"],
    )
    assert "assign.C1" in broken(tinygrad.schedule(asked))


def test_a_kernel_of_too_many_points_has_no_body(tinygrad: TinyGrad, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.backends.tinygrad.indices.MOST_POINTS", 3)
    made = tinygrad.schedule(GRAPHS["elementwise"])
    (kernel,) = made.items
    assert isinstance(kernel, Kernel)
    assert kernel.bodies == ()
    assert [(access.write, access.map) for access in kernel.accesses] == [(False, None), (True, None)]
    assert "has no body" in (executable(Facts(made)) or "")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            graph(stored("a"), node("b", "reduce", "a", shape=(), arg=(0,), fold="xor"), results=["b"]),
            "no reduction xor",
        ),
        (graph(stored("a"), alu("b", "mod", "a", "a"), results=["b"]), "Tensor has no mod"),
        (graph(stored("a", shape=("n",)), results=["a"]), "a variable without a value, 'n'"),
        (
            graph(stored("a"), stored("b", shape=(0,), device="d1"), results=["a", "b"]),
            "the buffer 'b' without elements",
        ),
        (graph(stored("a", shape=("n",)), results=["a"], variables=N), "a buffer with an extent that is a variable"),
        (
            graph(A, PART, moved("there", "copy", "part", (2, "n"), device="d1"), results=["there"], variables=N),
            "an index that no chain of strides and a mask gives",
        ),
    ],
)  # fmt: skip
def test_what_tensor_has_no_words_for_is_unsupported(tinygrad: TinyGrad, asked: Graph, words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        tinygrad.schedule(asked)


@pytest.mark.parametrize(
    ("found", "valid"),
    [
        (np.arange(6).reshape(2, 3), None),
        (np.arange(6).reshape(2, 3).T, None),
        (np.array([0, 3, 1, 4, 2, 5]), None),
        (np.array([[-1, 0, 1], [1, 2, 3]]), np.array([[False, True, True], [False, True, True]])),
        (np.array([[7, 8, 9], [10, 0, 0]]), np.array([[True, True, True], [True, False, False]])),
    ],
    ids=["consecutive", "transposed", "split anew", "masked", "a run"],
)
def test_a_map_is_found_for_what_has_one(found: np.ndarray, valid: np.ndarray | None) -> None:
    touched = np.ones(found.shape, bool) if valid is None else valid
    index_map = fit(found, touched)
    assert index_map is not None
    seen, inside = elements(index_map, {})
    assert (inside == touched).all()
    assert (seen[touched] == found[touched]).all()


def test_a_map_that_holds_for_some_values_is_none() -> None:
    def touched(values: Values) -> tuple[Indices, Touched]:
        return np.arange(values["n"]) * (1 + (values["n"] == 1)), np.ones(values["n"], bool)

    def squared(values: Values) -> tuple[Indices, Touched]:
        return np.arange(2) + values["n"] ** 2, np.ones(2, bool)

    (shown,) = fit_all(touched, ("n",), {"n": (1, 4)}) or ()
    assert shown == Affine(extents=("n",), strides=(1,))
    assert fit_all(squared, (2,), {"n": (1, 2)}) == (Affine(extents=(2,), strides=(1,), offset=-2, variables={"n": 3}),)
    assert fit_all(squared, (2,), {"n": (1, 3)}) is None


def test_no_map_is_made_up() -> None:
    assert fit(np.array([0, 1, 4, 9]), np.ones(4, bool)) is None
    assert fit(np.arange(4), np.array([True, False, True, True])) is None


def test_what_is_seen_through_a_view_is_labelled_where_it_lies(tinygrad: TinyGrad) -> None:
    asked = graph(
        stored("a", shape=(1, 4)),
        moved("copied", "copy", "a", (1, 4), True),
        moved("wide", "expand", "copied", (2, 4)),
        results=["wide"],
    )
    made = tinygrad.schedule(asked)
    assert [item.provenance for item in made.items] == [("copied",)]
    assert broken(made) == {}
