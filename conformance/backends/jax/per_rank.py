"""A program as the function that every rank runs, to be mapped over the mesh one way or another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from conformance.backends.attribution import adapter, framework
from conformance.backends.base import Unsupported
from conformance.backends.jax.collectives import MAPPED, WHOLE
from conformance.backends.jax.computing import computed
from conformance.cases.program.program import COMPUTING, Program, Step
from conformance.cases.tensor.dtypes import Array


class Ranks(Protocol):
    """How the blocks of all ranks are one value of JAX, and how one rank's function becomes that of all."""

    @property
    def own(self) -> tuple[slice, ...]:
        """Return the index of leading axes that a mutable array has inside a rank's function."""

    def put(self, views: list[Array]) -> Any:
        """Return the blocks, one a rank, as one value."""

    def blocks(self, array: Any) -> list[Array]:
        """Return the blocks of a value, in rank order, once they are there."""

    def call(self, rank: Callable[..., dict[str, Any]]) -> Any:
        """Return ``rank`` mapped over all ranks, under ``jit``.

        It is a function of mutable arrays, of arrays donated to it and of other values, each by name.
        """


@dataclass(frozen=True)
class Whole:
    """A program as one function, for inputs of one kind."""

    ranks: Ranks
    call: Any

    def compile(self, inputs: Mapping[str, list[Array]]) -> None:
        """Trace, lower and compile, which looks at no data and is found by calls; raise whatever JAX raises."""
        arrays = self.arrays(inputs)
        with framework():
            self.call.lower({}, {}, arrays).compile()

    def run(self, inputs: Mapping[str, list[Array]]) -> dict[str, list[Array]]:
        """Return the blocks of every result, in rank order; raise whatever JAX raises."""
        arrays = self.arrays(inputs)
        with framework():
            made = self.call({}, {}, arrays)
        return {name: self.ranks.blocks(array) for name, array in made.items()}

    def traced(self, arrays: Mapping[str, Any]) -> Any:
        """Return the values of every result for those of every input, inside another function that is compiled."""
        return self.call({}, {}, arrays)

    def arrays(self, inputs: Mapping[str, list[Array]]) -> dict[str, Any]:
        """Return the value of every input, of blocks in rank order."""
        return {name: self.ranks.put(views) for name, views in inputs.items()}


def whole(program: Program, ranks: Ranks) -> Whole:
    """Return all steps of ``program`` as one function."""

    @adapter()
    def rank(refs: Mapping[str, Any], given: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        del refs, given
        values = dict(inputs)
        for step in program.steps:
            values.update(zip(step.outputs, outputs(step, [values[name] for name in step.inputs]), strict=True))
        return {name: values[name] for name in program.results}

    return Whole(ranks, ranks.call(rank))


def outputs(step: Step, operands: Sequence[Any]) -> tuple[Any, ...]:
    """Return one rank's results of a collective, or of a step that computes; raise whatever JAX raises."""
    if step.op in COMPUTING:
        return (computed(step, operands),)
    axis_name = step.axes[0] if len(step.axes) == 1 else step.axes
    if step.op in WHOLE:
        return (WHOLE[step.op](*operands, axis_name=axis_name, groups=step.groups, **step.attrs),)
    if step.op not in MAPPED:
        raise Unsupported(f"the JAX backend has no {step.op}; it has {', '.join([*MAPPED, *WHOLE])}")
    taken = operands[0] if len(operands) == 1 else tuple(operands)
    result = MAPPED[step.op](taken, axis_name=axis_name, groups=step.groups, **step.attrs)
    return (result,) if len(operands) == 1 else tuple(result)
