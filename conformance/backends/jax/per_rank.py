"""A program as the function that every rank runs, to be mapped over the mesh one way or another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from conformance.backends.base import Unsupported
from conformance.backends.jax.collectives import MAPPED, WHOLE
from conformance.cases.dtypes import Array
from conformance.cases.program import Program, Step


class Executable(Protocol):
    """A program for inputs of one kind."""

    def compile(self, inputs: Mapping[str, list[Array]]) -> None:
        """Trace, lower and compile, which looks at no data; raise whatever JAX raises."""

    def run(self, inputs: Mapping[str, list[Array]]) -> dict[str, list[Array]]:
        """Return the blocks of every result, in rank order; raise whatever JAX raises."""


def per_rank(program: Program) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return the function from one rank's blocks of the inputs to its blocks of the results."""

    def rank(inputs: Mapping[str, Any]) -> dict[str, Any]:
        values = dict(inputs)
        for step in program.steps:
            values.update(_outputs(step, values))
        return {name: values[name] for name in program.results}

    return rank


def _outputs(step: Step, values: Mapping[str, Any]) -> dict[str, Any]:
    operands = tuple(values[name] for name in step.inputs)
    axis_name = step.axes[0] if len(step.axes) == 1 else step.axes
    if step.op in WHOLE:
        result = WHOLE[step.op](*operands, axis_name=axis_name, groups=step.groups, **step.attrs)
        return dict(zip(step.outputs, (result,), strict=True))
    if step.op not in MAPPED:
        raise Unsupported(f"the JAX backend has no {step.op}; it has {', '.join([*MAPPED, *WHOLE])}")
    alone = len(operands) == 1
    result = MAPPED[step.op](operands[0] if alone else operands, axis_name=axis_name, groups=step.groups, **step.attrs)
    return dict(zip(step.outputs, (result,) if alone else result, strict=True))
