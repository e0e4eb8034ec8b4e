"""Programs with effects on one rank: tensors on the storage the case describes, and Torch's own words for the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from conformance.backends.attribution import framework
from conformance.backends.base import Refused, Unsupported
from conformance.backends.case_arrays import Placed, placed_operand
from conformance.backends.held_storage import poison
from conformance.backends.torch.operation import Started, wait
from conformance.cases.case import Case
from conformance.cases.program.effects import window
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import Array


class Storage:
    """The arrays under the buffers and views of one program."""

    def __init__(self, case: Case, placed: Placed, tensor: Callable[[Array], torch.Tensor]) -> None:
        """Begin without any; buffers are added to ``placed``, and ``tensor`` makes a tensor on an array's memory."""
        self._case = case
        self._placed = placed
        self._tensor = tensor
        self._arrays: dict[str, Array] = {}

    def perform(self, step: Step, taken: list[Any]) -> list[Any]:
        """Return the outputs of a step that is no collective."""
        if step.op == "buffer":
            name = step.outputs[0]
            self._placed[name] = placed_operand(self._case.inputs[step.inputs[0]])
            return [self._named(name, self._placed[name][0][1])]
        if step.op == "view":
            return [self._named(step.outputs[0], window(self._arrays[step.inputs[0]], step))]
        if step.op == "copy":
            with framework():
                return [taken[0].clone()]
        if step.op == "done":
            self._same(step.inputs, step.outputs)
            return [wait(started) for started in taken]
        if step.op == "assign":
            with framework():
                taken[0].copy_(taken[1])
        else:
            poison([self._arrays[step.inputs[0]]])
        return []

    def written(self, step: Step) -> None:
        """Let what a collective returns, or its tickets, be the storage that it writes into: it may be viewed."""
        self._same(step.into, step.outputs)

    def _same(self, known: Sequence[str], names: Sequence[str]) -> None:
        found = dict(zip(names, known, strict=False))  # Fresh results have no storage here.
        self._arrays |= {name: self._arrays[old] for name, old in found.items() if old in self._arrays}

    def _named(self, name: str, array: Array) -> torch.Tensor:
        self._arrays[name] = array
        return self._tensor(array)


def formed(
    step: Step, blocks: list[Any], targets: list[Any], group: Any, operations: Mapping[str, Callable[..., Any]]
) -> list[Any]:
    """Return the results of a collective that writes into storage, or its tickets; ``group`` is none over no axis."""
    form = operations.get(f"start_{step.op}")
    if form is None:
        raise Unsupported(f"{step.op} has no form that writes into storage or is waited for later")
    outs = targets or [None] * len(blocks)
    started = [
        form(block, group, out, **step.attrs) if group is not None else Started(None, _alone(block, out))
        for block, out in zip(blocks, outs, strict=True)
    ]
    return started if step.start else [wait(one) for one in started]


def _alone(block: torch.Tensor, out: torch.Tensor | None) -> Callable[[], torch.Tensor]:
    """Return what gives the block itself, copied: nobody meets, so nothing is asked of Torch."""
    if out is not None and (out.dtype, out.shape) != (block.dtype, block.shape):
        raise Refused(f"{block.dtype} {tuple(block.shape)} does not fit {out.dtype} {tuple(out.shape)}")
    with framework():
        result = block.clone() if out is None else out.copy_(block)
    return lambda: result
