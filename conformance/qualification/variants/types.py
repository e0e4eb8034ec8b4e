"""Checkers of types that accept what only a *should* or a *may* refuses, and compilers that list ranks otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from typing import ClassVar

from msgspec.structs import replace

from conformance.backends.base import Types
from conformance.backends.reference import Reference
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.reference.types.check import Own, Typed, by_rule, check
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.lowering import by_step
from conformance.reference.types.values import evaluate, visible
from conformance.specs.types.jax_rules import DIFFERENCES

Blocks = list[Array]


class _Checking(Reference):
    """Checks types by ``own`` rules for some operations."""

    kind = "types"
    own: ClassVar[Mapping[str, Own]] = {}

    def typed(self, program: TypedProgram, inputs: Mapping[str, Blocks]) -> tuple[Types, dict[str, Blocks]]:
        types, values = check(program, self.own), evaluate(program, inputs)
        made = {step.output: types[step.output] for step in program.steps}
        return made, {name: visible(program, types[name], values[name]) for name in program.results}


def _unless(*clauses: str) -> Own:
    """Return the rule that refuses nothing by these clauses: the result then has the states of all operands."""

    def rule(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
        try:
            return by_rule(program, step, operands)
        except IllTyped as error:
            if error.clause not in clauses:
                raise
            states = {axis: state for each in operands for axis, state in each.by_axis.items()}
            joined = AxisType().along((), "varying")
            for axis, state in states.items():
                joined = joined.along((axis,), state)
            return Typed(operands, joined.along(step.axes, "invariant"))

    return rule


class ScalesPendingSums(_Checking):
    """A product of an unreduced factor takes any other factor, as DTensor's ``Partial`` does."""

    own: ClassVar = {"multiply": _unless("types.C10")}


class ComputesWithPendingSums(_Checking):
    """Local operations take unreduced operands beside others, of which DTensor makes the sum first."""

    own: ClassVar = {op: _unless("types.C8", "types.C9") for op in ("add", "maximum", "negate", "subtract", "sum")}


class MeansOfPendingValues(_Checking):
    """A mean takes an operand that is unreduced or reduced along another axis: a number divides each term."""

    own: ClassVar = {"all_reduce": _unless("types.C7")}


class ExtremesOfGroups(_Checking):
    """A maximum over groups is accepted and typed invariant, as ``jax.lax.pmax`` is."""

    own: ClassVar = DIFFERENCES["extremes of groups"].own


class ReducesLocalAxesToo(_Checking):
    """A reduction over mesh axes and local axes together is accepted where types are checked."""

    own: ClassVar = {"all_reduce": _unless("types.C16")}


class LeavesOutAxesOfOne(_Checking):
    """Axes of one rank drop out of types, as JAX's ``remove_size_one_mesh_axis_from_type`` has it."""

    def typed(self, program: TypedProgram, inputs: Mapping[str, Blocks]) -> tuple[Types, dict[str, Blocks]]:
        types, values = super().typed(program, inputs)
        ones = [axis.name for axis in program.mesh if axis.size == 1]
        return {name: given.along(ones, "invariant") for name, given in types.items()}, values


def _any_done(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
    started = program.started.get(step.inputs[0])
    return by_rule(program, replace(step, attrs={"of": started}) if started else step, operands)


class AnyDone(_Checking):
    """The done of any operation waits for what is started, as the primitives of ``jax._src.lax.parallel`` do."""

    own: ClassVar = {"done": _any_done}


class ListsGroupsBackwards(Reference):
    """The replica groups of what is lowered are listed from the last to the first: groups are a set."""

    kind = "types"

    def lowered(self, program: TypedProgram) -> list[Lowered]:
        return [replace(made, groups=made.groups[::-1]) for made in super().lowered(program)]


class AddsIndicesBackwards(Reference):
    """The terms of an index over several axes are added from the last axis to the first, as JAX does."""

    kind = "types"

    def lowered(self, program: TypedProgram) -> list[Lowered]:
        found: list[Lowered] = []
        for _, of_a_step in groupby(by_step(program), itemgetter(0)):
            found += [made for _, made in of_a_step][::-1]
        return found


class LeavesOutIndicesOfOneRank(Reference):
    """An index along an axis of one rank is the constant 0, as JAX has it where only some axes are mapped."""

    kind = "types"

    def lowered(self, program: TypedProgram) -> list[Lowered]:
        return [made for made in super().lowered(program) if made.index is None or made.index[1] > 1]


class MakesEqualCollectivesOnce(Reference):
    """Equal collectives of a compiled program are made once, those of one rank not at all, and the last come first."""

    kind = "types"

    def compiled(self, program: TypedProgram) -> list[Lowered]:
        made = dict.fromkeys(super().compiled(program))
        return [each for each in reversed(made) if any(len(set(group)) > 1 for group in each.groups)]
