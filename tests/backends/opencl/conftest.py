"""Backends that share one set of open devices, and cases built in a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.settings import POCL, Settings, from_environment
from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import EFFECTS, Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.reference.spmd import evaluate

OpenBackend = Callable[..., OpenCL]
MakeCase = Callable[..., Case]


@pytest.fixture(scope="session")
def session() -> Session:
    """The devices of the platform that the environment names, else of the one that is preferred."""
    return Session(from_environment())


@pytest.fixture(scope="session")
def pocl() -> Session:
    """PoCL's devices, of the kind that is the default."""
    return Session(Settings(platform=POCL))


@pytest.fixture
def opencl(session: Session) -> OpenBackend:
    """Return a maker of backends with given settings; all share the devices and programs of this run."""

    def open_backend(**settings: Any) -> OpenCL:
        backend = OpenCL(Settings(**settings))
        backend.__dict__["session"] = session
        return backend

    return open_backend


@pytest.fixture
def make_case() -> MakeCase:
    """Return a maker of one-step cases: operation, a block for each rank, attributes, groups, layouts."""

    def make(
        operation: str,
        blocks: list[Array],
        /,
        *,
        groups: Groups | None = None,
        layouts: tuple[Layout, ...] = (),
        results: tuple[str, ...] = ("y",),
        **attrs: Any,
    ) -> Case:
        step = Step(op=operation, inputs=("x",), outputs=("y",), axes=("ranks",), groups=groups, attrs=attrs)
        operand = Operand(
            blocks=tuple(from_array(block) for block in blocks), layouts=layouts or ("contiguous",) * len(blocks)
        )
        program = Program(mesh=(Axis("ranks", len(blocks)),), steps=(step,), results=results)
        return Case(program=program, inputs={"x": operand})

    return make


@pytest.fixture
def make_program() -> MakeCase:
    """Return a maker of cases: mesh sizes by name, blocks of each input, steps as (op, inputs, outputs, attributes).

    A collective spans all axes unless its attributes name ``axes``, and may name ``groups``, ``into`` and ``start``.
    """

    def make(
        mesh: dict[str, int],
        inputs: dict[str, list[Array]],
        steps: list[tuple[Any, ...]],
        results: tuple[str, ...],
        layout: Layout = "contiguous",
    ) -> Case:
        made = []
        for op, sources, targets, attrs in steps:
            apart: dict[str, Any] = {"axes": () if op in EFFECTS else tuple(mesh)}
            apart |= {name: attrs[name] for name in ("axes", "groups", "into") if name in attrs}
            if op not in EFFECTS and "start" in attrs:
                apart["start"] = attrs["start"]
            rest = {name: value for name, value in attrs.items() if name not in apart}
            made.append(Step(op=op, inputs=sources, outputs=targets, attrs=rest, **apart))
        operands = {
            name: Operand(blocks=tuple(from_array(block) for block in blocks), layouts=(layout,) * len(blocks))
            for name, blocks in inputs.items()
        }
        axes = tuple(Axis(name, size) for name, size in mesh.items())
        return Case(program=Program(mesh=axes, steps=tuple(made), results=results), inputs=operands)

    return make


@pytest.fixture
def agree() -> Callable[[Case, Observation], None]:
    """Return a check that an observation has the reference's bits on every rank and left its inputs alone."""

    def check(case: Case, seen: Observation) -> None:
        assert not seen.raised, seen.errors[0]
        assert seen.touched == ()
        wanted = {
            name: tuple(None if b is None else from_array(np.asarray(b)) for b in blocks)
            for name, blocks in evaluate(case).items()
        }
        assert seen.results == wanted

    return check


@pytest.fixture
def values() -> Callable[[Observation], list[Array]]:
    """Return the blocks of result ``y`` as arrays, for tests that say what they expect themselves."""

    def read(seen: Observation) -> list[Array]:
        assert not seen.raised, seen.errors[0]
        return [to_array(block) for block in seen.results["y"] if block is not None]

    return read
