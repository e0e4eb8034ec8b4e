"""The mutants of graphs, sharded tensors and typed programs as backends: the reference, each with one change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from conformance.backends.base import Backend, Held, Types
from conformance.backends.case_arrays import tensors
from conformance.backends.reference import Reference
from conformance.cases.graph.case import GraphCase
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_case import Level, TypedCase, arrays
from conformance.cases.types.typed_program import TypedProgram
from conformance.qualification import graph_mutants, sharded_mutants, typed_mutants
from conformance.qualification.graph_mutants.eager import Eager
from conformance.qualification.mutants.corpus import CORPUS
from conformance.qualification.sharded_mutants import Way
from conformance.qualification.typed_mutants.mutant import TypedMutant

Blocks = dict[str, list[Array]]

LONGEST: Final = 3000
"""Nodes of a graph that is walked, at most: longer ones take a mutant in Python seconds."""


class WalkedGraphs(Reference):
    """Graphs are evaluated by a walk of their own."""

    walk: ClassVar[type[Eager]]

    def run_graph(self, case: GraphCase) -> dict[str, Array]:
        """Run a case by that walk."""
        if len(case.graph.nodes) > LONGEST:
            return super().run_graph(case)
        return graph_mutants.Walked(self.walk).run_graph(case)


class PlacedTensors(Reference):
    """Steps on sharded tensors are done in a way of their own."""

    way: ClassVar[Way]

    def run_sharded(self, case: ShardedCase) -> dict[str, Held]:
        """Run a case that way."""
        return sharded_mutants.Changed(self.way).run_sharded(case)


class PatchedTypes(Reference):
    """Something of the reference is replaced while it runs typed programs."""

    mutant: ClassVar[TypedMutant]

    def typed(self, program: TypedProgram, inputs: Mapping[str, list[Array]]) -> tuple[Types, Blocks]:
        """Return what the changed reference gives."""
        case = self._case(program, inputs)
        with self.mutant.wrong():
            return super().typed(case.program, arrays(case.inputs))

    def lowered(self, program: TypedProgram) -> list[Lowered]:
        """Return what the changed reference lowers a program to."""
        case = self.mutant.case(TypedCase(program=program, inputs={}, lowered=True))
        with self.mutant.wrong():
            return super().lowered(case.program)

    def compiled(self, program: TypedProgram) -> list[Lowered]:
        """Return what the changed reference compiles a program to."""
        case = self.mutant.case(TypedCase(program=program, inputs={}, compiled=True))
        with self.mutant.wrong():
            return super().compiled(case.program)

    def batched(self, program: TypedProgram, levels: Sequence[Level], inputs: Mapping[str, list[Array]]) -> Blocks:
        """Return what the changed reference gives for a mapped program."""
        case = self._case(program, inputs, batch=tuple(levels))
        with self.mutant.wrong():
            return super().batched(case.program, case.batch, arrays(case.inputs))

    def pullback(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], cotangents: Mapping[str, list[Array]]
    ) -> Blocks:
        """Return what the changed reference pulls back."""
        case = self._case(program, inputs, cotangents=tensors(cotangents))
        with self.mutant.wrong():
            return super().pullback(case.program, arrays(case.inputs), arrays(case.cotangents))

    def pushforward(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], tangents: Mapping[str, list[Array]]
    ) -> Blocks:
        """Return what the changed reference pushes forward."""
        case = self._case(program, inputs, tangents=tensors(tangents))
        with self.mutant.wrong():
            return super().pushforward(case.program, arrays(case.inputs), arrays(case.tangents))

    def _case(self, program: TypedProgram, inputs: Mapping[str, list[Array]], **more: Any) -> TypedCase:
        found: Any = tensors(inputs)
        return self.mutant.case(TypedCase(program=program, inputs=found, **more))


def _classes() -> Iterator[type[Backend]]:
    for name, walk in graph_mutants.MUTANTS.items():
        yield _class(name, WalkedGraphs, walk.__doc__, walk=walk)
    for name, way in sharded_mutants.MUTANTS.items():
        # One mistake of graphs and of sharded tensors is two classes.
        alone = name if name not in graph_mutants.MUTANTS else f"{name}Sharded"
        yield _class(alone, PlacedTensors, way.__doc__, way=way, corpus=_reports(name))
    for op, several in typed_mutants.BY_OPERATION.items():
        for mutant in several:
            yield _class(mutant.name, PatchedTypes, mutant.text, mutant=mutant, ops=(op,))


def _class(name: str, base: type[Backend], text: str | None, **more: Any) -> type[Backend]:
    return type(name, (base,), {"__doc__": text, "__module__": __name__, "corpus": _reports(name), **more})


def _reports(name: str) -> tuple[str, ...]:
    return tuple(report.id for report in CORPUS if name in report.ways)


CHANGED_REFERENCES: Final = tuple(_classes())
"""Every mutant of graphs, then of sharded tensors, then of typed programs."""

# A worker finds the class of a mutant in its module, by its name.
globals().update({each.__qualname__: each for each in CHANGED_REFERENCES})
