"""Named buffers on the devices: what is written where and when, what is left alone, and what nobody waits for."""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from typing import Any

import numpy as np
import pytest

from conformance.backends.claim_limits import supported
from conformance.backends.opencl.graph.node import Buffer, whole
from conformance.backends.opencl.graph.trace import trace
from conformance.backends.opencl.lower import lower
from conformance.backends.opencl.runtime import engine as engines
from conformance.backends.opencl.schedule.item import Kernel
from conformance.backends.opencl.settings import ALGORITHMS, Settings
from conformance.cases.program.effect_words import CAPABILITIES
from conformance.cases.program.features import features
from conformance.cases.schedule.schedule import Access
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.layout import LAYOUTS
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.reference.schedule.data import initial
from conformance.reference.schedule.execute import run
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.orders import legal_orders
from conformance.reference.spmd import evaluate
from conformance.specs import OPS
from conformance.specs.schedules import CLAUSE_BY_ID, judge

SUM: dict[str, Any] = {"op": "sum"}
EXCHANGED: dict[str, Any] = {"split_axis": 0, "concat_axis": 0, "tiled": True}
ROUND: dict[str, Any] = {"pairs": ((0, 1), (1, 2), (2, 3), (3, 0))}
TURNED: dict[str, Any] = {"start": (3, 0), "stop": (-1, 3), "step": (-1, 1)}
LOWER: dict[str, Any] = {"start": (1, 0), "stop": (4, 3), "step": (1, 1)}
UPPER: dict[str, Any] = {"start": (0, 0), "stop": (3, 3), "step": (1, 1)}
BUFFER = ("buffer", ("x",), ("b",), {})
OTHER = ("buffer", ("x",), ("d",), {})

PROGRAMS: dict[str, tuple[list[tuple[Any, ...]], tuple[str, ...]]] = {
    "out": ([BUFFER, ("all_reduce", ("x",), ("y",), SUM | {"into": ("b",)})], ("y", "b")),
    "in place": ([BUFFER, ("all_reduce", ("b",), ("y",), SUM | {"into": ("b",)})], ("b",)),
    "moved in place": ([BUFFER, ("permute", ("b",), ("y",), ROUND | {"into": ("b",)})], ("y",)),
    "crossed": (
        [BUFFER, OTHER, ("permute", ("b", "d"), ("y", "z"), ROUND | {"into": ("d", "b")})],
        ("b", "d"),
    ),
    **{
        f"{op} of both {how}": ([BUFFER, OTHER, (op, ("b", "d"), ("y", "z"), {**attrs, "into": into})], ("b", "d"))
        for op, attrs in (("all_reduce", SUM), ("broadcast", {"root": 2}), ("all_to_all", EXCHANGED))
        for how, into in (("in place", ("b", "d")), ("crossed", ("d", "b")))
    },
    "shifted": (
        [
            BUFFER,
            ("view", ("b",), ("u",), UPPER),
            ("view", ("b",), ("l",), LOWER),
            ("all_reduce", ("u",), ("y",), SUM | {"into": ("l",)}),
        ],
        ("b",),
    ),
    "turned": ([BUFFER, ("view", ("b",), ("t",), TURNED), ("assign", ("b", "t"), (), {}), *[
        ("broadcast", ("t",), ("y",), {"root": 2, "into": ("b",)})]], ("b",)),
    "old": (
        [
            BUFFER,
            ("all_reduce", ("b",), ("y",), SUM),
            ("copy", ("b",), ("c",), {}),
            ("all_reduce", ("b",), ("i",), SUM | {"axes": ()}),
            ("assign", ("b", "y"), (), {}),
            ("permute", ("b",), ("z",), ROUND),
            ("free", ("b",), (), {}),
        ],
        ("y", "c", "i", "z"),
    ),
    "no part": ([BUFFER, ("reduce", ("x",), ("y",), SUM | {"root": 1, "into": ("b",)})], ("b",)),
    "started": (
        [
            BUFFER,
            ("all_reduce", ("b",), ("t",), SUM | {"start": True}),
            ("assign", ("b", "x"), (), {}),
            ("permute", ("b",), ("u",), ROUND | {"start": True, "into": ("b",)}),
            ("copy", ("b",), ("c",), {}),
            ("done", ("u", "t"), ("v", "w"), {}),
            ("all_reduce", ("w",), ("never",), SUM | {"start": True, "into": ("b",)}),
            ("done", ("t",), ("again",), {}),
        ],
        ("c", "v", "w", "again"),
    ),
}  # fmt: skip


def blocks(dtype: str = "int32", rows: int = 4) -> list[Array]:
    return [(np.arange(rows * 3) + 100 * rank).astype(dtype).reshape(rows, 3) for rank in range(4)]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_storage_holds_what_eager_execution_leaves(
    name: str, algorithm: str, opencl: Any, make_program: Any, agree: Any
) -> None:
    steps, results = PROGRAMS[name]
    for reuse, stream_from, layout in ((True, 1024, "contiguous"), (False, 1, "strided")):
        case = make_program({"r": 4}, {"x": blocks()}, steps, results, layout)
        agree(case, opencl(force=algorithm, reuse=reuse, stream_from=stream_from).execute(case))


def test_a_view_of_a_buffer_without_axes_is_the_buffer(opencl: Any, make_program: Any, agree: Any) -> None:
    nothing: dict[str, Any] = {"start": (), "stop": (), "step": ()}
    first = [BUFFER, ("view", ("b",), ("v",), nothing)]
    steps = [*first, ("all_reduce", ("x",), ("y",), SUM), ("assign", ("v", "y"), (), {})]
    case = make_program({"r": 2}, {"x": [np.array(1), np.array(2)]}, steps, ("b", "v"))
    assert evaluate(case)["b"] == [3, 3]
    agree(case, opencl().execute(case))


def test_a_chain_of_buffers_may_be_longer_than_the_stack_is_deep(make_program: Any) -> None:
    names = [f"b{number}" for number in range(60)]
    steps: list[tuple[Any, ...]] = [("buffer", ("x",), (name,), {}) for name in names]
    steps += [("assign", (later, name), (), {}) for name, later in itertools.pairwise(names)]
    steps += [("all_reduce", (names[-1],), ("y",), SUM)]
    case = make_program({"r": 2}, {"x": [np.arange(3), np.arange(3)]}, steps, ("y",))
    sources = {"x": tuple(whole(Buffer(rank, "int64", 3, "x"), (3,)) for rank in range(2))}
    traced = trace(case.program, sources, lambda _: [])
    limit, depth = sys.getrecursionlimit(), len(inspect.stack())
    sys.setrecursionlimit(depth + 40)
    try:
        lower(traced, Settings())
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout != "broadcast"])
@pytest.mark.parametrize("dtype", ["bool", "int4", "float16", "complex128"])
def test_what_surrounds_a_buffer_keeps_every_byte(
    layout: str, dtype: str, opencl: Any, make_program: Any, agree: Any
) -> None:
    data = [block % 2 for block in blocks()]
    made = [block.astype(NUMPY[dtype]) for block in data]
    for name in ("shifted", "turned", "no part"):
        steps, results = PROGRAMS[name]
        steps = [(op, *rest, attrs | {"op": "max"} if "op" in attrs else attrs) for op, *rest, attrs in steps]
        if dtype == "complex128":
            steps = [(op, *rest, attrs | {"op": "sum"} if "op" in attrs else attrs) for op, *rest, attrs in steps]
        case = make_program({"r": 4}, {"x": made}, steps, results, layout)
        agree(case, opencl().execute(case))


def test_large_blocks_are_written_by_streaming_kernels(opencl: Any, make_program: Any, agree: Any) -> None:
    for name in ("out", "in place", "moved in place", "crossed"):
        steps, results = PROGRAMS[name]
        case = make_program({"r": 4}, {"x": blocks(rows=5000)}, steps, results)
        agree(case, opencl(cached=0).execute(case))


@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_clause_about_schedules_holds_with_buffers(
    algorithm: str, reuse: bool, opencl: Any, make_program: Any
) -> None:
    for steps, results in PROGRAMS.values():
        case = make_program({"r": 4}, {"x": blocks("float32")}, steps, results)
        made = with_graph(opencl(force=algorithm, reuse=reuse).schedule(case), program_graph(case))
        broken = [found for found in judge(made) if found.finding == "broken"]
        assert not [found for found in broken if CLAUSE_BY_ID[found.clause].requirement != "may"]


@pytest.mark.parametrize("shape", [(1,), (1, 3), (1, 1)])
def test_a_mirror_of_one_element_is_not_written_over_itself(
    shape: tuple[int, ...], opencl: Any, make_program: Any
) -> None:
    rest = len(shape) - 1
    mirror = {"start": (0,) * (rest + 1), "stop": (-1, *shape[1:]), "step": (-1, *(1,) * rest)}
    assign = [("view", ("b",), ("t",), mirror), ("assign", ("b", "t"), (), {})]
    steps = [BUFFER, *assign, ("all_reduce", ("b",), ("y",), SUM)]
    case = make_program({"r": 2}, {"x": [np.ones(shape, np.float32)] * 2}, steps, ("b",))
    made = with_graph(opencl().schedule(case), program_graph(case))
    assert not [found for found in judge(made) if found.finding == "broken"]


@pytest.mark.parametrize("name", ["crossed", "shifted", "started", "old"])
def test_any_legal_order_of_the_items_leaves_the_same(name: str, opencl: Any, make_program: Any) -> None:
    steps, results = PROGRAMS[name]
    facts = Facts(opencl().schedule(make_program({"r": 4}, {"x": blocks()}, steps, results)))
    before = initial(facts)
    drawn = [before.array(f"x[{rank}]").reshape(4, 3).copy() for rank in range(4)]
    wanted = evaluate(make_program({"r": 4}, {"x": drawn}, steps, results))
    for order in itertools.islice(legal_orders(facts), 6):
        after = run(facts, order)
        for rank, block in enumerate(wanted[results[0]]):
            place = next(place for place in facts.schedule.places if place.node == f"{results[0]}[{rank}]")
            found = after.read(Access(buffer=place.buffer, map=place.map), {})
            assert np.array_equal(found, np.asarray(block)), (rank, order)


@pytest.mark.parametrize(("name", "kernels"), [("out", 8), ("moved in place", 11), ("in place", 11)])
def test_a_result_is_written_straight_into_a_target_that_nobody_reads_any_more(
    name: str, kernels: int, opencl: Any, make_program: Any
) -> None:
    # Four open the buffers and four compute; all but the last step aside where others read what they would write.
    steps, results = PROGRAMS[name]
    backend = opencl(force="one_shot")
    case = make_program({"r": 4}, {"x": blocks()}, steps, results)
    engine = backend.engine
    plan = engine.plan(case.program, {"x": engine.put([(block, block) for block in blocks_of(case)])})
    assert sum(isinstance(item, Kernel) for item in plan.schedule.items) == kernels


@pytest.mark.parametrize(("algorithm", "buffers"), [("direct", 8), ("naive", 20), ("one_shot", 11)])
@pytest.mark.parametrize("reuse", [True, False])
def test_a_sum_in_place_needs_no_storage_but_that_of_its_copies(
    algorithm: str, buffers: int, reuse: bool, opencl: Any, make_program: Any, agree: Any
) -> None:
    # Several shards; inputs and buffers, 12 copies, of one-shot three results that wait until all have read.
    steps, results = PROGRAMS["in place"]
    case = make_program({"r": 4}, {"x": blocks(rows=64)}, steps, results)
    backend = opencl(force=algorithm, reuse=reuse)
    assert len(backend.schedule(case, planned=False).buffers) == buffers
    made = with_graph(backend.schedule(case), program_graph(case))
    assert not [found for found in judge(made) if found.finding == "broken"]
    agree(case, backend.execute(case))


def test_a_sum_in_place_waits_for_others_who_read_what_was_there(opencl: Any, make_program: Any, agree: Any) -> None:
    # The second operand of each is the first's target, and a part of it is at another place.
    steps = [BUFFER, OTHER, ("all_reduce", ("b", "d"), ("y", "z"), SUM | {"into": ("d", "b")})]
    steps += [("view", ("b",), ("t",), TURNED), ("all_reduce", ("t",), ("w",), SUM | {"into": ("b",)})]
    case = make_program({"r": 4}, {"x": blocks()}, steps, ("b", "d"))
    agree(case, opencl().execute(case))
    made = with_graph(opencl().schedule(case), program_graph(case))
    assert not [found for found in judge(made) if found.finding == "broken"]


def blocks_of(case: Any) -> list[Array]:
    return [block.reshape(-1) for block in case.blocks()["x"]]


def test_freed_storage_is_poisoned_after_its_readers(opencl: Any, make_program: Any) -> None:
    steps, results = PROGRAMS["old"]
    case = make_program({"r": 4}, {"x": blocks("int16")}, steps, results)
    engine = opencl().engine
    started = engine.start(case.program, {"x": engine.put([(b.reshape(-1), b) for b in case.blocks()["x"]])})
    assert all((block.view(np.uint8) == 0xDB).all() for block in engine.read(started.buffers["b"]))


def test_done_waits_for_nothing(opencl: Any, make_program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    steps, results = PROGRAMS["started"]
    case = make_program({"r": 4}, {"x": blocks()}, steps, results)
    engine = opencl().engine
    value = engine.put([(b.reshape(-1), b) for b in case.blocks()["x"]])

    def waited(events: Any) -> None:
        raise AssertionError(events)

    with monkeypatch.context() as patch:
        patch.setattr(engines.cl, "wait_for_events", waited)
        first, second = (engine.start(case.program, {"x": value}) for _ in range(2))
    assert first.plan is second.plan
    found = [engine.read(started.done()["c"]) for started in (first, second)]
    assert all(np.array_equal(*pair) for pair in zip(*found, strict=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": blocks(rows=3)}, r"target 0 has shape \(4, 3\) on rank 0; that of the result, \(3, 3\), is right"),
        ({"x": blocks("float32")}, "target 0 has dtype int32 on rank 0; that of the result, float32, is right"),
        ({"into": ("b", "b")}, "1 results cannot go into 2 targets; each needs one of its own"),
    ],
)
@pytest.mark.parametrize("start", [True, False])
def test_a_target_that_does_not_fit_is_refused(
    change: dict[str, Any], message: str, start: bool, opencl: Any, make_program: Any
) -> None:
    inputs = {"a": blocks(), "x": change.get("x", blocks())}
    into = {"into": change.get("into", ("b",)), "start": start}
    steps = [("buffer", ("a",), ("b",), {}), ("all_reduce", ("x",), ("y",), SUM | into)]
    seen = opencl().execute(make_program({"r": 4}, inputs, steps, ("b",)))
    assert seen.errors[0].kind == "TargetMismatchError"
    assert re.search(message, seen.errors[0].message)


def test_every_effect_is_claimed(opencl: Any, make_program: Any) -> None:
    for steps, results in PROGRAMS.values():
        case = make_program({"r": 4}, {"x": blocks()}, steps, results)
        assert supported(opencl().claims, {step.op for step in case.program.collectives}, features(case)) is None
    assert all(opencl().claims[op]["effects"] == CAPABILITIES for op in OPS)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_kind_of_step_writes_and_reads_storage(
    algorithm: str, opencl: Any, make_program: Any, agree: Any
) -> None:
    one = [np.array([rank], np.int32) for rank in range(4)]
    table = [np.ones(4, np.int32)] * 4
    inputs = {"x": blocks(), "n": [block.reshape(()) for block in one], "s": table, "o": table}
    steps = [
        BUFFER,
        ("buffer", ("n",), ("i",), {}),
        ("buffer", ("o",), ("f",), {}),
        ("barrier", (), (), {}),
        ("axis_index", (), ("k",), {"into": ("i",)}),
        ("send", ("b",), ("t",), ROUND),
        ("recv", ("t",), ("y",), ROUND | {"shape": (4, 3), "dtype": "int32", "into": ("b",)}),
        ("barrier", (), (), {}),
        ("permute", ("f",), ("g",), ROUND | {"into": ("f",)}),
        ("ragged_all_to_all", ("b", "x", "f", "s", "f", "s"), ("z",), {"into": ("b",)}),
        ("all_reduce", ("f",), ("h",), SUM | {"into": ("f",)}),
        ("reduce_constant", (), ("c",), {"value": 3, "start": True, "into": ("i",)}),
    ]
    case = make_program({"r": 4}, inputs, steps, ("b", "i", "f"))
    agree(case, opencl(force=algorithm).execute(case))
