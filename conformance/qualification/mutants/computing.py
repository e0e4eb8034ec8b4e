"""Mistakes about what is computed beside communication: which step comes first, and on what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from msgspec.structs import replace

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Stored
from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.observation import Observation
from conformance.cases.program.program import COMPUTING, Step
from conformance.qualification.mutants.effectful import Act, Effectful, Late
from conformance.qualification.mutants.storage import shared
from conformance.reference.effects import Ranks
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate

OPS = ("all_reduce", "all_gather", "permute")


class _Rewritten(Effectful):
    """Runs another program, where that has a meaning and results of the same names."""

    ops = OPS
    effects = Stored

    def steps(self, case: Case) -> list[Step]:
        """Return the steps that are run instead."""
        raise NotImplementedError

    def execute(self, case: Case) -> Observation:
        """Run the other program."""
        other = replace(case, program=replace(case.program, steps=tuple(self.steps(case))))
        try:
            evaluate(other)
        except (Rejected, CaseError):
            other = case
        return super().execute(other)


def _pairs(steps: tuple[Step, ...]) -> Iterator[tuple[int, int]]:
    """Yield which step reads what an earlier one gives, one of them an ``alu`` on one value or a ``cast``."""
    for at, step in enumerate(steps):
        for later in range(at + 1, len(steps)):
            if step.outputs and step.outputs[0] in steps[later].inputs:
                yield at, later


def _pointwise(step: Step) -> bool:
    return step.op in ("alu", "cast") and len(set(step.inputs)) == 1


def _moves(step: Step) -> bool:
    return step.op in OPS and len(step.inputs) == 1 and not (step.into or step.start)


class CollectiveBeforeTheStep(_Rewritten):
    """A pass that moves conversions to where fewer elements are takes every collective for one that moves blocks."""

    breaks = "computing.C2"

    def steps(self, case: Case) -> list[Step]:
        """Let the first collective that reads what is computed of one value come before that."""
        steps = case.program.steps
        for at, later in _pairs(steps):
            first, second = steps[at], steps[later]
            if _pointwise(first) and _moves(second) and first.outputs[0] not in case.program.results:
                met = replace(second, inputs=first.inputs[:1], outputs=("met early",))
                then = replace(first, inputs=("met early",) * len(first.inputs), outputs=second.outputs)
                return [*steps[:later], met, then, *steps[later + 1 :]]
        for at, later in _pairs(steps):
            first, second = steps[at], steps[later]
            if _pointwise(first) and _moves(second):
                met = replace(second, inputs=first.inputs[:1], outputs=("met early",))
                then = replace(first, inputs=("met early",) * len(first.inputs), outputs=second.outputs)
                return [*steps[:later], met, then, *steps[later + 1 :]]
        return list(steps)


class StepBeforeTheCollective(_Rewritten):
    """An epilogue is fused into the kernel that packs the operand, as if it changed places with any collective."""

    breaks = "computing.C3"

    def steps(self, case: Case) -> list[Step]:
        """Compute on the operand what is computed of the result of a collective."""
        steps = case.program.steps
        for at, later in _pairs(steps):
            first, second = steps[at], steps[later]
            if _moves(first) and _pointwise(second):
                packed = replace(second, inputs=first.inputs * len(second.inputs), outputs=("packed",))
                met = replace(first, inputs=("packed",), outputs=second.outputs)
                return [*steps[:later], packed, met, *steps[later + 1 :]]
        return list(steps)


class CollectivesInARow(_Rewritten):
    """Two collectives are merged in one launch, and the second begins with the first one's result."""

    breaks = "computing.C4"

    def steps(self, case: Case) -> list[Step]:
        """Let a collective read what the step before it reads, where that is the result of another."""
        steps, given = case.program.steps, set[str]()
        for at, step in enumerate(steps):
            if step.op in COMPUTING:
                made = [name for name in step.inputs if name in given]
                for later in range(at + 1, len(steps) if made else 0):
                    if steps[later].op not in COMPUTING and step.outputs[0] in steps[later].inputs:
                        inputs = tuple(made[0] if name == step.outputs[0] else name for name in steps[later].inputs)
                        return [*steps[:later], replace(steps[later], inputs=inputs), *steps[later + 1 :]]
            elif step.op in ("all_reduce", "all_gather", "permute", "broadcast", "shuffle", "done"):
                given.update(step.outputs)
        return list(steps)


class _InPlace(Stored):
    def compute(self, where: str, step: Step, operands: list[Ranks]) -> Ranks:
        made = super().compute(where, step, operands)
        for old, new in zip(operands[0], made, strict=True):
            if (old.dtype, old.shape) == (new.dtype, new.shape) and old.flags.writeable:
                old[...] = new
        return made


class ComputesInPlace(Effectful):
    """A kernel reuses its operand's memory for its result, though the operand is an input or is read once more."""

    breaks = "computing.C1"
    ops = OPS
    effects = _InPlace


class _Meanwhile(Stored):
    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.flights: list[Ranks] = []

    def start(self, act: Act, step: Step) -> list[Any]:
        tickets = super().start(act, step)
        self.flights += tickets
        return tickets

    def done(self, ticket: Any) -> Ranks:
        self.flights = [other for other in self.flights if other is not ticket]
        return super().done(ticket)


class _TakesTheirMemory(_Meanwhile):
    def compute(self, where: str, step: Step, operands: list[Ranks]) -> Ranks:
        made = super().compute(where, step, operands)
        for flight in self.flights:
            for held, new in zip(flight, made, strict=True):
                if held is not None and held.nbytes and not shared([held], [new]):
                    width = min(held.nbytes, new.nbytes)
                    flat, given = np.frombuffer(held.tobytes(), np.uint8).copy(), new.tobytes()
                    flat[:width] = np.frombuffer(given, np.uint8)[:width]
                    held[...] = flat.view(held.dtype).reshape(held.shape)
        return made


class ComputesInTheReceiveBuffer(Effectful):
    """The pool of buffers takes what a collective under way will write for free, and hands it to the next kernel."""

    breaks = "computing.C5"
    ops = OPS
    effects = _TakesTheirMemory


class _OneReduction(_Meanwhile):
    ops: ClassVar[list[str]] = []

    def start(self, act: Act, step: Step) -> list[Any]:
        op = str(step.attrs.get("op", ""))
        if op and self.flights and self.computed:
            step.attrs["op"], act_op = self.first, op
            try:
                return super().start(act, step)
            except Rejected:
                pass
            finally:
                step.attrs["op"] = act_op
        if op and not self.flights:
            self.first = op
        return super().start(act, step)

    first = "sum"
    computed = False

    def compute(self, where: str, step: Step, operands: list[Ranks]) -> Ranks:
        self.computed = True
        return super().compute(where, step, operands)


class OneReductionUnderWay(Effectful):
    """The communicator keeps the reduction of what is under way, and the next start on it takes that."""

    breaks = "computing.C6"
    ops = ("all_reduce", "reduce_scatter")
    effects = _OneReduction


class OperandIsReadAfterTheStep(Effectful):
    """A backward step writes the next gradient over a bucket whose all_reduce is queued and reads it when it runs."""

    breaks = "computing.C7"
    ops = OPS
    effects = Late


class _Lazily(Stored):
    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.made: list[tuple[str, Step, list[Ranks], Ranks]] = []

    def compute(self, where: str, step: Step, operands: list[Ranks]) -> Ranks:
        made = super().compute(where, step, operands)
        self.made.append((where, step, operands, made))
        return made

    def assign(self, target: Ranks, value: Ranks) -> None:
        super().assign(target, value)
        self.again(target)

    def again(self, target: Ranks) -> None:
        for where, step, operands, made in self.made:
            if any(shared(target, operand) for operand in operands):
                for old, new in zip(made, super().compute(where, step, operands), strict=True):
                    old[...] = new


class ComputesWhenItIsUsed(Effectful):
    """A lazy value names its sources, and is computed of what they hold when somebody asks for it."""

    breaks = "computing.C8"
    ops = OPS
    effects = _Lazily
