"""Mistakes about what is read before what is written, and about storage that is used again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from msgspec.structs import replace

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Reference, Stored
from conformance.cases.case import Case
from conformance.cases.program.features import LONG
from conformance.cases.program.program import Groups, Step
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.effectful import Effectful
from conformance.qualification.mutants.every_operation import Blocks, EveryOperation, Operation
from conformance.qualification.mutants.every_program import Results
from conformance.qualification.mutants.storage import shared
from conformance.reference.effects import Ranks
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.reductions import fold


class _Remembers(EveryOperation):
    """A reference that can do its last operation again, on what its operand holds by then."""

    again: Callable[[], Blocks] | None = None
    groups: Groups = ()
    axis: int = 0
    op: str = ""

    def _walk(self, case: Case, placed: Placed) -> Results:
        self.again = None
        return super()._walk(case, placed)

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        self.again, self.groups = partial(operation, blocks, groups=groups), groups
        attrs = getattr(operation, "keywords", {})
        self.axis, self.op = attrs.get("axis", 0), attrs.get("op", "")
        return operation(blocks, groups=groups)


class _Interleaved(Stored):
    def __init__(self, case: Case, placed: Placed, maker: _Remembers) -> None:
        super().__init__(case, placed)
        self.maker = maker

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        if self.maker.again is None or not shared(target, operand):
            return super().write(target, result, operand)
        for rank, block in enumerate(target):
            block[...] = result[rank]
            result = list(self.maker.again())
        return target


class SendsFromWhereItWrites(_Remembers):
    """A result is written over what is still being sent without a copy, and the others receive that."""

    breaks = "aliasing.C6"
    ops = ("reduce_scatter", "all_gather", "shuffle")

    def _effects(self, case: Case, placed: Placed) -> Stored:
        return _Interleaved(case, placed, self)


class _AtItsPlace(_Interleaved):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        for group in self.maker.groups if shared(target, operand) else ():
            for position, rank in enumerate(group):
                piece = np.array_split(operand[rank], len(group), self.maker.axis)[position]
                if piece.shape == result[rank].shape:
                    piece[...] = result[rank]
        return target if shared(target, operand) else super().write(target, result, operand)


class ResultStaysWhereItWasReduced(_Remembers):
    """mpich#1594: in place, reduce_scatter leaves piece p where it was reduced, and a test expected it there."""

    breaks = "aliasing.C6"
    corpus = ("mpich#1594",)
    ops = ("reduce_scatter",)

    def _effects(self, case: Case, placed: Placed) -> Stored:
        return _AtItsPlace(case, placed, self)


class _Chain(_Interleaved):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        if self.maker.again is None or not shared(target, operand) or operand[0].nbytes < LONG:
            return Stored.write(self, target, result, operand)
        made = list(result)
        for group in self.maker.groups:
            for rank in group if len(group) > 1 else ():
                received = fold([operand[other] for other in group if other != rank], self.maker.op)
                made[rank] = None if result[rank] is None else fold([received, received], self.maker.op)
        return Stored.write(self, target, made, operand)


class LongChainReceivesOverItsOperand(_Remembers):
    """ompi#2824: in place, the chain that reduces 64 KiB and more receives over its operand, and adds what it received.

    What is shorter goes another way, and is right.
    """

    breaks = "aliasing.C2"
    corpus = ("ompi#2824",)
    ops = ("reduce", "all_reduce")

    def _effects(self, case: Case, placed: Placed) -> Stored:
        return _Chain(case, placed, self)


class _SecondReader(_Interleaved):
    def __init__(self, case: Case, placed: Placed, maker: _Remembers) -> None:
        super().__init__(case, placed, maker)
        self.rounds = 0
        self.kept: list[tuple[Ranks, Ranks, Callable[[], Blocks]]] = []

    def fresh(self, result: Ranks, operand: Ranks) -> Ranks:
        made = super().fresh(result, operand)
        if self.maker.again is not None:
            self.kept.append((operand, made, self.maker.again))
        return made

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        Stored.write(self, target, result, operand)
        self.rounds += 1
        for source, made, again in self.kept if self.rounds > 2 else ():
            for block, late in zip(made, again(), strict=True) if shared(target, source) else ():
                block[...] = late
        return target


class ReplayWritesBeforeTheSecondReader(_Remembers):
    """tinygrad#14210: what was captured twice is replayed, and one output overwrites what another still has to read."""

    breaks = "aliasing.C10"
    corpus = ("tinygrad#14210",)
    ops = ("all_reduce", "permute", "shuffle")

    def _effects(self, case: Case, placed: Placed) -> Stored:
        return _SecondReader(case, placed, self)


class PartialsOfTheLastRound(EveryOperation):
    """vllm#2760: the second stage does not wait for the first, and reads the partial results of the round before."""

    breaks = "aliasing.C10"
    corpus = ("vllm#2760",)
    ops = ("all_reduce", "shuffle", "permute")
    rounds: tuple[Blocks, ...] = ()

    def _walk(self, case: Case, placed: Placed) -> Results:
        self.rounds = ()
        return super()._walk(case, placed)

    def around(self, operation: Operation, blocks: list[Array], groups: Groups) -> Blocks:
        out = [None if block is None else np.array(block) for block in operation(blocks, groups=groups)]
        self.rounds = (*self.rounds, out)
        alike = len(self.rounds) > 2 and _forms(self.rounds[-2]) == _forms(out)
        return self.rounds[-2] if alike else out


def _forms(blocks: Blocks) -> list[object]:
    return [None if block is None else (block.dtype, block.shape) for block in blocks]


class _GivenAway(Stored):
    freed = False
    last: Ranks = []  # noqa: RUF012 - replaced, never changed

    def fresh(self, result: Ranks, operand: Ranks) -> Ranks:
        made = super().fresh(result, operand)
        self.last = self.last if self.freed else made
        return made

    def free(self, blocks: Ranks) -> None:
        super().free(blocks)
        self.freed = True

    def buffer(self, name: str, operand: str, blocks: Ranks) -> Ranks:
        for old, new in zip(self.last, blocks, strict=False) if self.freed else ():
            if old is not None and (old.dtype, old.shape) == (new.dtype, new.shape):
                old[...] = new
        return super().buffer(name, operand, blocks)


class TheResultsStorageIsGivenAway(Effectful):
    """pytorch#108811: a planner does not know that a result lies in what it frees, and gives it to the next buffer."""

    breaks = "aliasing.C11"
    corpus = ("pytorch#108811",)
    effects = _GivenAway


class OneOperandAfterTheOther(Reference):
    """Several operands are a loop over single calls, and a later call reads what an earlier one wrote."""

    breaks = "aliasing.C19"
    ops = ("all_reduce", "broadcast")

    def _walk(self, case: Case, placed: Placed) -> Results:
        steps = tuple(single for step in case.program.steps for single in _singles(step))
        return super()._walk(replace(case, program=replace(case.program, steps=steps)), placed)


class StagingIsRefilledTooEarly(Reference):
    """mlx#3451: a staging buffer is filled with the next chunk when the last was sent, before it was added up here."""

    breaks = "all_reduce.C1"
    corpus = ("mlx#3451",)
    chunk = 32

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups, **attrs: float) -> list[Array]:
        # What else it is given the reference checks.
        out = [block.copy() for block in all_reduce(blocks, op=op, groups=groups, **attrs)]  # type: ignore[arg-type]
        for block in out if out[0].size >= 2 * self.chunk else ():
            flat = block.reshape(-1)
            flat[: self.chunk] = flat[self.chunk : 2 * self.chunk].copy()
        return out


def _singles(step: Step) -> Iterator[Step]:
    if len(step.into) < 2 or not len(step.inputs) == len(step.outputs) == len(step.into):
        yield step
        return
    for parts in zip(step.inputs, step.outputs, step.into, strict=True):
        operand, output, target = ((name,) for name in parts)
        yield replace(step, inputs=operand, outputs=output, into=target)


class _EachChecksItsOwn(Stored):
    def check(self, op: str, targets: list[Ranks], results: list[Ranks]) -> None:
        for target, result in zip(targets, results, strict=False):
            for to, block in zip(target, result, strict=True):
                if block is not None and (to.dtype, to.shape) == (block.dtype, block.shape):
                    to[...] = block
        super().check(op, targets, results)


class WhatFitsIsWrittenBeforeTheRestIsChecked(Effectful):
    """Results are checked against their targets one by one and written at once, so an error leaves some overwritten."""

    breaks = "aliasing.C20"
    effects = _EachChecksItsOwn
