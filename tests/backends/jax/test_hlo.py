"""JAX's compiled HLO in the neutral form: the checkers and the executing oracle judge it."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from conformance.backends.base import Unsupported
from conformance.backends.jax import Jax
from conformance.cases.graph.graph import Node, Variable
from conformance.cases.schedule.builders import alu, constant, graph, node, stored
from conformance.cases.schedule.kernel_body import Reduce
from conformance.cases.schedule.schedule import Kernel, Schedule
from conformance.cases.tensor.dtypes import NUMPY
from conformance.reference.schedule.execute import executable
from conformance.reference.schedule.facts import Facts
from conformance.runner.dialects.schedule import GRAPH, SUITE
from conformance.runner.draws import numbered
from conformance.specs.schedules import CLAUSE_BY_ID, judge

A = stored("a", shape=(2, 3))
SUM = node("sum", "reduce", "a", shape=(2,), arg=(1,), fold="add")


def moved(name: str, op: str, of: str, shape: tuple[int | str, ...], arg: object = None, **rest: object) -> Node:
    return node(name, op, of, shape=shape, arg=arg, **rest)


GRAPHS = {
    "elementwise": graph(A, constant("1", shape=(2, 3)), alu("b", "add", "a", "1", shape=(2, 3)), results=["b"]),
    "a reduction that is taken along its rows": graph(
        A,
        SUM,
        moved("column", "reshape", "sum", (2, 1)),
        moved("columns", "expand", "column", (2, 3)),
        alu("b", "sub", "a", "columns", shape=(2, 3)),
        results=["b"],
    ),
    "pad and permute": graph(
        A,
        alu("neg", "neg", "a", shape=(2, 3)),
        moved("padded", "pad", "neg", (2, 5), ((0, 0), (1, 1))),
        moved("turned", "permute", "padded", (5, 2), (1, 0)),
        alu("b", "abs", "turned", shape=(5, 2)),
        results=["b"],
    ),
    "an assign to a part": graph(
        A,
        moved("row", "shrink", "a", (1, 3), ((0, 1), (0, 3))),
        alu("double", "add", "row", "row", shape=(1, 3)),
        moved("other", "shrink", "a", (1, 3), ((1, 2), (0, 3))),
        node("put", "assign", "other", "double", shape=(1, 3)),
        results=["put"],
    ),
    "an assign to all, turned": graph(
        A,
        moved("turned", "flip", "a", (2, 3), (0, 1)),
        alu("double", "add", "a", "a", shape=(2, 3)),
        node("put", "assign", "turned", "double", shape=(2, 3)),
        results=["put"],
    ),
    "two results": graph(A, SUM, alu("b", "neg", "a", shape=(2, 3)), results=["sum", "b"]),
}


@pytest.fixture(scope="module")
def jax_backend() -> Jax:
    return Jax()


def broken(schedule: Schedule) -> list[str]:
    found = judge(schedule)
    return [f"{each.clause}: {each.detail}" for each in found if each.finding == "broken" and _counts(each.clause)]


def _counts(clause: str) -> bool:
    return CLAUSE_BY_ID[clause].requirement == "must"


def kernels(schedule: Schedule) -> list[Kernel]:
    return [item for item in schedule.items if isinstance(item, Kernel)]


def written(schedule: Schedule) -> set[str]:
    return {access.buffer for item in kernels(schedule) for access in item.accesses if access.write}


@pytest.mark.parametrize("name", GRAPHS)
def test_what_xla_compiles_runs_in_the_oracle_and_breaks_nothing(jax_backend: Jax, name: str) -> None:
    made = jax_backend.schedule(GRAPHS[name])
    assert broken(made) == []
    assert executable(Facts(made)) is None


def test_a_fusion_is_one_kernel_with_its_body(jax_backend: Jax) -> None:
    made = jax_backend.schedule(GRAPHS["a reduction that is taken along its rows"])
    lines = [
        line for item in made.items if isinstance(item, Kernel) for body in item.bodies for line in body.instructions
    ]
    assert any(isinstance(line, Reduce) for line in lines)
    assert made.places[0].buffer in {access.buffer for item in made.items for access in item.accesses if access.write}  # type: ignore[union-attr]


def test_an_assign_is_written_where_the_storage_is(jax_backend: Jax) -> None:
    made = jax_backend.schedule(GRAPHS["an assign to a part"])
    assert "a" in written(made)


def test_a_variable_is_an_argument_of_the_function(jax_backend: Jax) -> None:
    asked = graph(
        A,
        node("n", "var", shape=(), arg="n"),
        moved("one", "reshape", "n", (1, 1)),
        moved("some", "expand", "one", (2, 3)),
        alu("b", "add", "a", "some", shape=(2, 3)),
        results=["b"],
        variables={"n": Variable(low=1, high=9, value=4)},
    )
    assert broken(jax_backend.schedule(asked)) == []


def test_what_cannot_be_said_is_refused(jax_backend: Jax) -> None:
    far = node("far", "copy", "a", shape=(2, 3), device="d1")
    kept = node("kept", "copy", "a", shape=(2, 3), arg=True)
    for more in (far, kept):
        with pytest.raises(Unsupported):
            jax_backend.schedule(graph(A, more, results=[more.id]))


@pytest.mark.parametrize(
    "dtype", ["bool", "int16", "uint16", "int64", "uint64", "bfloat16", "float8_e4m3fn", "float64"]
)
def test_a_literal_is_read_bit_for_bit(jax_backend: Jax, dtype: str) -> None:
    del jax_backend  # JAX has to be started with its settings
    import jax

    from conformance.backends.jax.hlo.module import literal, read_module

    given = np.arange(6).reshape(2, 3).astype(NUMPY[dtype])
    compiled = jax.jit(lambda: jax.numpy.asarray(given)).lower().compile()
    (module,) = compiled.runtime_executable().hlo_modules()  # type: ignore[union-attr]
    (found,) = [
        each for each in read_module(module.as_serialized_hlo_module_proto()).sequence if each.opcode == "constant"
    ]
    assert literal(found).tobytes() == given.tobytes()


FORMLESS = {"complex64", "complex128", "int4", "uint4"}


def test_drawn_graphs_break_no_must_and_most_run(jax_backend: Jax) -> None:
    asked = [numbered(SUITE.domains[GRAPH], 0, number)[0].of for number in range(200)]
    alone = [each for each in asked if len({node.device for node in each.nodes}) == 1]
    # Complex numbers and integers of 4 bits have no form of their own in memory.
    alone = [each for each in alone if FORMLESS.isdisjoint(node.dtype for node in each.nodes)]
    made: list[Schedule] = []
    for each in alone:
        with suppress(Unsupported):
            made.append(jax_backend.schedule(each))
    assert [broken(each) for each in made] == [[]] * len(made)
    assert sum(executable(Facts(each)) is None for each in made) > len(made) // 2 > 4
