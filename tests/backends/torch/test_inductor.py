"""What Inductor's scheduler makes of graphs, in the neutral form; the wrapper and the indices that it is read from."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from conformance.backends.base import Unsupported
from conformance.backends.torch import TorchCompile
from conformance.backends.torch.inductor.index import worth
from conformance.backends.torch.inductor.wrapper import View, read_wrapper
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.schedule.builders import alu, constant, graph, node, stored
from conformance.cases.schedule.schedule import Schedule
from conformance.reference.schedule.execute import executable
from conformance.reference.schedule.facts import Facts
from conformance.specs.schedules import CLAUSE_BY_ID, judge

A = stored("a", shape=(2, 3))


def moved(name: str, op: str, of: str, shape: tuple[int | str, ...], arg: object = None) -> Node:
    return node(name, op, of, shape=shape, arg=arg)


PADDED = graph(
    A,
    alu("neg", "neg", "a", shape=(2, 3)),
    moved("padded", "pad", "neg", (2, 5), ((0, 0), (1, 1))),
    moved("turned", "permute", "padded", (5, 2), (1, 0)),
    alu("b", "abs", "turned", shape=(5, 2)),
    results=["b"],
)
NORMED = graph(
    stored("a", shape=(4, 16)),
    node("greatest", "reduce", "a", shape=(4,), arg=(1,), fold="max"),
    moved("column", "reshape", "greatest", (4, 1)),
    moved("columns", "expand", "column", (4, 16)),
    alu("less", "sub", "a", "columns", shape=(4, 16)),
    alu("power", "exp2", "less", shape=(4, 16)),
    node("sum", "reduce", "power", shape=(4,), arg=(1,), fold="add"),
    moved("total", "reshape", "sum", (4, 1)),
    moved("totals", "expand", "total", (4, 16)),
    alu("b", "div", "power", "totals", shape=(4, 16)),
    results=["b"],
)
PUT = graph(
    A,
    constant("1", shape=(2, 3)),
    alu("more", "add", "a", "1", shape=(2, 3)),
    node("put", "assign", "a", "more", shape=(2, 3)),
    results=["put"],
)
TURNED = graph(
    A,
    moved("turned", "flip", "a", (2, 3), (0,)),
    alu("more", "add", "turned", "turned", shape=(2, 3)),
    node("put", "assign", "a", "more", shape=(2, 3)),
    results=["put"],
)
KEPT_BEFORE = graph(
    A,
    stored("c", shape=(2, 3)),
    moved("old", "contig", "a", (2, 3)),
    constant("1", shape=(2, 3)),
    alu("more", "add", "a", "1", shape=(2, 3)),
    node("first", "assign", "a", "more", shape=(2, 3)),
    node("second", "assign", "c", "old", shape=(2, 3)),
    results=["second"],
)


def made(asked: Graph) -> Schedule:
    return TorchCompile().schedule(asked)


def broken(schedule: Schedule) -> list[str]:
    musts = (each for each in judge(schedule) if CLAUSE_BY_ID[each.clause].requirement == "must")
    return [f"{each.clause}: {each.detail}" for each in musts if each.finding == "broken"]


@pytest.mark.slow
@pytest.mark.parametrize("asked", [PADDED, NORMED, PUT])
def test_what_inductor_schedules_runs_in_the_oracle_and_breaks_nothing(asked: Graph) -> None:
    schedule = made(asked)
    assert broken(schedule) == []
    assert executable(Facts(schedule)) is None


@pytest.mark.slow
def test_loops_that_share_an_outer_one_stage_what_is_between_them() -> None:
    schedule = made(NORMED)
    assert {each.finding for each in judge(schedule) if each.clause.startswith("staging")} == {"held"}


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "clause"), [(KEPT_BEFORE, "law.C1"), (TURNED, "assign.C1")])
def test_what_torch_2_13_computes_wrongly_is_seen_in_its_schedule(asked: Graph, clause: str) -> None:
    assert [each.partition(":")[0] for each in broken(made(asked))] == [clause]


@pytest.mark.slow
def test_a_forced_copy_has_no_schedule() -> None:
    with pytest.raises(Unsupported, match="for its own sake"):
        made(graph(A, node("kept", "copy", "a", shape=(2, 3), arg=True), results=["kept"]))


def test_names_of_a_wrapper_are_traced_to_the_memory_that_was_allocated() -> None:
    found = read_wrapper("""
class Runner:
    def call(self, args):
        arg0_1, = args
        buf0 = empty_strided_cpu((2, 3), (3, 1), torch.float32)
        kernel(arg0_1, buf0)
        buf1 = buf0; del buf0  # reuse
        buf2 = reinterpret_tensor(buf1, (3,), (1,), 3)
        return (buf2, arg0_1, )
""")
    assert found.returned == [View("buf0", 3, (3,), (1,)), View("arg0_1")]
    with pytest.raises(Unsupported, match="several results"):
        read_wrapper("def call(self, args):\n    buf1 = buf0[0]\n    return (buf1,)")


def test_an_index_is_evaluated_at_all_points() -> None:
    loop = sympy.Symbol("loop", integer=True)
    assert worth(2 * loop + 1, {"loop": np.arange(3)}).tolist() == [1, 3, 5]
    with pytest.raises(Unsupported, match="index with s0"):
        worth(sympy.Symbol("s0"), {})
