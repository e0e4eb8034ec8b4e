"""Bases for mistakes that are made before any operation begins: in reading the program or its operands."""

from __future__ import annotations

from abc import ABC, abstractmethod

from msgspec.structs import replace

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.program.program import Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor
from conformance.reference.operations import TABLE

Results = dict[str, tuple[Tensor | None, ...]]


class MisreadSteps(Reference, ABC):
    """A reference that runs another program than was asked for."""

    @abstractmethod
    def read(self, step: Step, program: Program) -> Step:
        """Return what becomes of ``step``."""

    def _walk(self, case: Case, placed: Placed) -> Results:
        program = case.program
        steps = tuple(self.read(step, program) for step in program.steps)
        return super()._walk(replace(case, program=replace(program, steps=steps)), placed)


class MendedRanks(Reference, ABC):
    """A reference that has every rank's block agree with that of rank 0, where it should complain."""

    @abstractmethod
    def mend(self, block: Array, first: Array) -> Array:
        """Return the block that stands in for ``block``; ``first`` is that of rank 0."""

    def _walk(self, case: Case, placed: Placed) -> Results:
        if TABLE[case.program.collectives[-1].op].differ == "nothing":
            placed = {
                name: [(storage, self.mend(view, ranks[0][1])) for storage, view in ranks]
                for name, ranks in placed.items()
            }
        return super()._walk(case, placed)
