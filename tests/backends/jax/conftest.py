"""One JAX for all tests, and cases for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from conformance.backends.jax import Jax, JaxUnchecked, JaxVmap
from conformance.cases.case import Case, Operand
from conformance.cases.observation import RankError
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.reference.spmd import evaluate


@pytest.fixture(scope="session")
def jax() -> Jax:
    """Return one backend for all tests: it takes longer to start than to run a case."""
    pytest.importorskip("jax")
    return Jax()


@pytest.fixture(scope="session")
def vmap() -> JaxVmap:
    """Return the second mode, likewise."""
    pytest.importorskip("jax")
    return JaxVmap()


@pytest.fixture(scope="session")
def unchecked() -> JaxUnchecked:
    """Return shard_map without its type checks."""
    pytest.importorskip("jax")
    return JaxUnchecked()


@pytest.fixture(params=["jax", "vmap"])
def mode(request: pytest.FixtureRequest) -> Jax:
    """Return each mode in turn."""
    found: Jax = request.getfixturevalue(request.param)
    return found


def counting(shape: tuple[int, ...], world: int, dtype: str = "float32") -> list[Array]:
    """Return one block a rank, every element another small number (or truth value)."""
    size = int(np.prod(shape))
    return [(np.arange(size) + rank * size).reshape(shape).astype(NUMPY[dtype]) for rank in range(world)]


def one_step(
    op: str,
    blocks: list[Array],
    groups: Groups | None = None,
    /,
    *,
    layouts: Sequence[Layout] | None = None,
    **attrs: Attr,
) -> Case:
    """Return the case of one operation on operand ``x`` over the only mesh axis."""
    step = Step(op=op, inputs=("x",), outputs=("y",), axes=("i",), groups=groups, attrs=attrs)
    return program([step], (Axis("i", len(blocks)),), blocks, layouts)


def program(
    steps: list[Step], mesh: tuple[Axis, ...], blocks: list[Array], layouts: Sequence[Layout] | None = None
) -> Case:
    """Return the case of several steps from ``x`` to the last output."""
    operand = Operand(
        blocks=tuple(from_array(block) for block in blocks),
        layouts=tuple(layouts or ["contiguous"] * len(blocks)),
    )
    return Case(program=Program(mesh=mesh, steps=tuple(steps), results=steps[-1].outputs), inputs={"x": operand})


def agrees(jax: Jax, case: Case) -> None:
    """Assert that JAX gives the reference's bits on every rank and touches no input."""
    seen = jax.execute(case)
    assert not seen.raised, seen.errors
    wanted = {name: tuple(from_array(block) for block in ranks) for name, ranks in evaluate(case).items()}
    assert seen.results == wanted
    assert not seen.touched


def refusal(jax: Jax, case: Case) -> RankError:
    """Return the error that JAX raised on every rank alike."""
    seen = jax.execute(case)
    assert len(set(seen.errors)) == 1
    assert len(seen.errors) == case.program.world
    assert seen.errors[0] is not None
    assert not seen.results
    return seen.errors[0]


def over(
    mesh: Mapping[str, int],
    op: str,
    axes: tuple[str, ...],
    operands: Mapping[str, list[Array]],
    outputs: tuple[str, ...] = ("y",),
    /,
    *,
    groups: Groups | None = None,
    **attrs: Attr,
) -> Case:
    """Return the case of one operation on any operands over some axes of a mesh."""
    step = Step(op=op, inputs=tuple(operands), outputs=outputs, axes=axes, groups=groups, attrs=attrs)
    inputs = {
        name: Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * len(blocks))
        for name, blocks in operands.items()
    }
    named = tuple(Axis(name, size) for name, size in mesh.items())
    return Case(program=Program(mesh=named, steps=(step,), results=outputs), inputs=inputs)
