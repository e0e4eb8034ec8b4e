"""No order of rounded additions breaks the law, and every other value does."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    graph,
    line,
    node,
    reads,
    schedule,
    stored,
    tensor,
    writes,
)
from conformance.cases.schedule.kernel_body import Alu, Body, Constant, Instruction, Load, Store
from conformance.cases.schedule.schedule import Kernel, Schedule
from conformance.reference.schedule.data import DRAWS, initial
from conformance.reference.schedule.eager import reach
from conformance.reference.schedule.execute import changes_nothing, law
from conformance.reference.schedule.facts import Facts


def summed(order: list[int], dtype: str, count: int, times: int = 1, mean: bool = False) -> Schedule:
    """Return a schedule of a sum of ``count`` buffers, of the same sum of sums ``times`` over, added in ``order``.

    The first of them is a mean where ``mean`` says so.
    """
    names, members = [f"x{n}" for n in range(count)], tuple(f"d{n}" for n in range(count))
    nodes, source = [stored(name, (16,), dtype=dtype, device=f"d{n}") for n, name in enumerate(names)], names
    body: list[Instruction] = [Load(access=n) for n in range(count)]
    terms = list(range(count))
    for time in range(times):
        met = {"op": "mean" if mean and time == 0 else "sum"}
        made = [
            node(f"y{time}{n}", "collective", *source, shape=(16,), dtype=dtype, device=device, arg="all_reduce",
                 attrs=met, members=members)
            for n, device in enumerate(members)
        ]  # fmt: skip
        nodes, source = nodes + made, [each.id for each in made]
        total = terms[order[0]]
        for number in order[1:]:
            body.append(Alu(op="add", of=(total, terms[number])))
            total = len(body) - 1
        if met["op"] == "mean":
            body += [Constant(value=tensor(count, dtype)), Alu(op="div", of=(total, len(body)))]
            total = len(body) - 1
        terms = [total] * count
    body.append(Store(access=count, of=terms[0]))
    accesses = (*(reads(name, line(16)) for name in names), writes("out", line(16), node=source[0]))
    item = Kernel(id="k", device="d0", accesses=accesses, bodies=(Body(extents=(16,), instructions=tuple(body)),))
    given = [buffer(name, 16, dtype, f"d{n}", preexisting=True) for n, name in enumerate(names)]
    return schedule([*given, buffer("out", 16, dtype)], [item], graph(*nodes, results=source[:1]), {source[0]: "out"})


CASES = [
    ("float8_e5m2", 8, 1, False), ("float8_e4m3fn", 8, 2, False), ("bfloat16", 7, 3, False), ("float32", 3, 2, True),
    ("float8_e5m2", 12, 1, False), ("float8_e5m2", 3, 2, True),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "count", "times", "mean"), CASES)
def test_law_c1_lets_sums_be_added_in_any_order(dtype: str, count: int, times: int, mean: bool) -> None:
    turned = [*range(count // 2, count), *reversed(range(count // 2))]
    for order in (list(range(count)), list(range(count))[::-1], turned):
        assert law(Facts(summed(order, dtype, count, times, mean))) is None


@pytest.mark.parametrize(("dtype", "count", "times", "mean"), CASES)
def test_law_c1_sees_a_term_left_out_or_added_twice(dtype: str, count: int, times: int, mean: bool) -> None:
    for order in (list(range(1, count)), [0, *range(count)], [0, 0, *range(2, count)]):
        assert law(Facts(summed(order, dtype, count, times, mean))) is not None


def test_data_of_means_are_multiples_of_their_count() -> None:
    facts = Facts(summed([0, 1, 2], "float32", 3, 2, mean=True))
    assert not (initial(facts).array("x0") % 3).any()
    assert set(np.abs(initial(Facts(summed([0, 1, 2], "float32", 3))).array("x0"))) == {1, 2}


NARROWING = [
    ("int32", "max", 0, None), ("int32", "and", 3, None), ("int32", "abs", None, None), ("int64", None, None, "int8"),
    ("uint8", "min", 100, None), ("float32", "min", 6, None), ("float32", "trunc", None, None),
    ("float32", None, None, "float16"), ("float32", None, None, "int32"), ("float64", None, None, "float32"),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "op", "value", "through"), NARROWING)
def test_data_show_what_changes_no_small_number(
    dtype: str, op: str | None, value: int | None, through: str | None
) -> None:
    nodes = [stored("a", dtype=dtype)]
    if value is not None:
        nodes.append(constant("v", value, dtype=dtype))
    if through is None:
        assert op is not None
        nodes.append(alu("m", op, *(each.id for each in nodes), dtype=dtype))
    else:
        nodes += [node("n", "cast", "a", dtype=through), node("m", "cast", "n", dtype=dtype)]
    nodes.append(node("w", "assign", "a", "m", dtype=dtype))
    made = schedule([buffer("a", dtype=dtype, preexisting=True)], [], graph(*nodes, results=["w"]))
    assert not changes_nothing(Facts(made), "w")
    assert law(Facts(made)) is not None


def test_data_are_wide_where_elements_are_multiplied_too() -> None:
    nodes = (stored("a"), stored("n", dtype="int16"), alu("y", "div", "a", "a"))
    facts = Facts(schedule([buffer("a", 64, preexisting=True), buffer("n", 64, "int16", preexisting=True)], [],
                           graph(*nodes, results=["y"])))  # fmt: skip
    last = initial(facts, DRAWS + 2)
    assert {0.5, 2.25, 2**11 + 1} <= set(np.abs(last.array("a")))
    assert {-(2**15), 2**15 - 1} <= set(initial(facts, DRAWS).array("n"))
    assert (initial(facts, DRAWS + 1).array("n") < 0).all()
    assert (last.array("n") >= 2**15 - 4).all()


POWERS: dict[str, tuple[list[Instruction], bool]] = {
    "as listed": ([Alu(op="mul", of=(0, 1)), Alu(op="mul", of=(2, 1)), Alu(op="mul", of=(3, 1))], True),
    "associated": ([Alu(op="mul", of=(1, 1)), Alu(op="mul", of=(2, 1)), Alu(op="mul", of=(0, 3))], True),
    "a factor left out": ([Alu(op="mul", of=(0, 1)), Alu(op="mul", of=(2, 1))], False),
    "a factor too many": ([Alu(op="mul", of=(1, 1)), Alu(op="mul", of=(2, 2)), Alu(op="mul", of=(0, 3))], False),
    "of another sign": ([Alu(op="mul", of=(1, 1)), Alu(op="mul", of=(2, 1)), Alu(op="mul", of=(0, 3)),
                         Alu(op="neg", of=(4,))], False),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", POWERS)
def test_law_c1_bounds_what_rounds_in_every_order(name: str, dtype: str) -> None:
    steps, right = POWERS[name]
    nodes = [stored("a", (16,), dtype=dtype), constant("c", 0.3, (16,), dtype=dtype)]
    for of, made in (("a", "p"), ("p", "q"), ("q", "y")):
        nodes.append(alu(made, "mul", of, "c", dtype=dtype, shape=(16,)))
    body = (Load(access=0), Constant(value=tensor(0.3, dtype)), *steps, Store(access=1, of=1 + len(steps)))
    accesses = (reads("a", line(16)), writes("out", line(16), node="y"))
    item = Kernel(id="k", device="d0", accesses=accesses, bodies=(Body(extents=(16,), instructions=body),))
    buffers = [buffer("a", 16, dtype, preexisting=True), buffer("out", 16, dtype)]
    assert (law(Facts(schedule(buffers, [item], graph(*nodes, results=["y"]), {"y": "out"}))) is None) == right


def test_bounds_of_a_large_graph_are_kept_of_the_last_draw_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = summed([0, 1, 2], "float16", 3)
    small, large = Facts(asked), Facts(asked)
    for seed in range(3):
        reach(small, seed)
    monkeypatch.setattr("conformance.reference.schedule.eager.SMALL", 8)
    for seed in range(3):
        reach(large, seed)
    kept = [[seed for what, seed, _ in each.kept if what == "reach"] for each in (small, large)]
    assert kept == [[0, 1, 2], [2]]
