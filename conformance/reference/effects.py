"""What a program does beside its collectives: storage that is written, waiting, and what each rank computes alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.cases.case_error import CaseError
from conformance.cases.program.effects import window
from conformance.cases.program.operations import row
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import Array
from conformance.reference.computing import compute
from conformance.reference.rejection import Rejected

Ranks = list[Any]
"""A value: a block or a token for each rank, ``None`` where a rank has none."""


class Effects:
    """Eager execution: everything has happened when its step is over. Broken backends override a method."""

    def buffer(self, name: str, operand: str, blocks: Ranks) -> Ranks:
        """Return storage for the buffer ``name`` that holds a copy of the input ``operand``."""
        del name, operand
        return [block.copy() for block in blocks]

    def view(self, blocks: Ranks, step: Step) -> Ranks:
        """Return views of the blocks, by the attributes of ``step``."""
        return [window(block, step) for block in blocks]

    def assign(self, target: Ranks, value: Ranks) -> None:
        """Write a value, which may share storage with the target, and is read whole before."""
        for block, wanted in zip(target, [block.copy() for block in value], strict=True):
            block[...] = wanted

    def copy(self, blocks: Ranks) -> Ranks:
        """Return fresh blocks with what is there now."""
        return [block.copy() for block in blocks]

    def compute(self, where: str, step: Step, operands: list[Ranks]) -> Ranks:
        """Return what a step that computes gives on each rank, of its operands there."""
        return list(compute(where, step, operands))

    def free(self, blocks: Ranks) -> None:
        """End a buffer. Nothing that has a meaning reads it any more."""

    def fresh(self, result: Ranks, operand: Ranks) -> Ranks:
        """Return a result that shares storage with nothing."""
        del operand
        return [block.copy() if hasattr(block, "copy") else block for block in result]

    def check(self, op: str, targets: list[Ranks], results: list[Ranks]) -> None:
        """Require that every result fits its target; nothing is written before."""
        check_targets(op, targets, results)

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        """Write a result into its target, on ranks that have one, and return the written storage."""
        del operand
        for block, wanted in zip(target, result, strict=True):
            if wanted is not None:
                block[...] = wanted
        return target

    def start(self, act: Callable[[], list[Ranks]], step: Step) -> list[Any]:
        """Return a ticket for each output of a collective, which ``act`` does as a whole."""
        del step
        return list(act())

    def done(self, ticket: Any) -> Ranks:
        """Return what a ticket stands for."""
        ranks: Ranks = ticket
        return ranks


def computed(effects: Effects, where: str, step: Step, taken: list[Any]) -> list[Any]:
    """Return the output of a step that computes; raise ``CaseError`` for operands that do not fit."""
    operands = [_blocks(where, *pair) for pair in zip(step.inputs, taken, strict=True)]
    return [effects.compute(where, step, operands)]


def perform(effects: Effects, where: str, step: Step, taken: list[Any]) -> list[Any]:
    """Return the outputs of an effect; raise ``CaseError`` for a value that does not fit."""
    if step.op == "buffer":
        return [effects.buffer(step.outputs[0], step.inputs[0], taken[0])]
    if step.op == "view":
        return [effects.view(taken[0], step)]
    if step.op == "copy":
        return [effects.copy(_blocks(where, step.inputs[0], taken[0]))]
    if step.op == "done":
        return [effects.done(ticket) for ticket in taken]
    if step.op == "free":
        effects.free(taken[0])
        return []
    for target, value in zip(taken[0], _blocks(where, step.inputs[1], taken[1]), strict=True):
        if (target.dtype, target.shape) != (value.dtype, value.shape):
            raise CaseError(
                f"{where} writes {value.dtype} {value.shape} into {target.dtype} {target.shape}; they must be alike"
            )
    effects.assign(taken[0], taken[1])
    return []


def check_targets(op: str, targets: list[Ranks], results: list[Ranks]) -> None:
    """Require a target of its result's dtype and shape for every result (``aliasing.C15`` to ``C18``)."""
    if len(targets) != len(results):
        raise Rejected("aliasing.C17", f"{len(results)} results cannot go into {len(targets)} targets")
    for target, result in zip(targets, results, strict=True):
        for block, wanted in zip(target, result, strict=True):
            if wanted is None:
                continue
            if block.dtype != wanted.dtype:
                raise Rejected("aliasing.C16", f"a result of {wanted.dtype} cannot go into {block.dtype}")
            if block.shape != wanted.shape:
                clause = "aliasing.C18" if row(op).sized and _of_other_size(block, wanted) else "aliasing.C15"
                raise Rejected(clause, f"a result of shape {wanted.shape} cannot go into shape {block.shape}")


def _of_other_size(block: Array, wanted: Array) -> bool:
    """Return whether the shapes are alike but for one extent, as with a group of another size."""
    if block.ndim != wanted.ndim:
        return False
    differing = [one for one, other in zip(block.shape, wanted.shape, strict=True) if one != other]
    return len(differing) == 1


def _blocks(where: str, name: str, value: Ranks) -> Ranks:
    missing = [rank for rank, block in enumerate(value) if block is None]
    if missing:
        raise CaseError(f"{where} reads {name!r}, of which rank {missing[0]} has no part")
    return value
