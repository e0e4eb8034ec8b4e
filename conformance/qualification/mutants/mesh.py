"""Mistakes about the axes that a step names."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.program.program import Axis, Program, Step
from conformance.qualification.mutants.every_program import MisreadSteps, Results


class _NoAxisIsAnAxisOfOne(Reference):
    def _walk(self, case: Case, placed: Placed) -> Results:
        program = case.program
        steps = tuple(replace(step, axes=step.axes or ("alone",)) for step in program.steps)
        return super()._walk(
            replace(case, program=replace(program, mesh=(*program.mesh, Axis("alone", 1)), steps=steps)), placed
        )


class NoAxisGathersOne(_NoAxisIsAnAxisOfOne):
    """jax#19720: over no axis some operations are done as if in a group of one, and all_gather adds its new axis."""

    breaks = "collective.C21"
    corpus = ("jax#19720",)
    ops = ("all_gather",)


class NoAxisPermutesOne(_NoAxisIsAnAxisOfOne):
    """JAX permutes over no axis as if in a group of one, whose block, sent nowhere, becomes zeros."""

    breaks = "collective.C30"
    ops = ("permute",)


class UnknownAxesAreSkipped(MisreadSteps):
    """The sizes of the named axes are looked up with 1 for those that are not there."""

    breaks = "collective.C22"

    def read(self, step: Step, program: Program) -> Step:
        names = [axis.name for axis in program.mesh]
        return replace(step, axes=tuple(name for name in step.axes if name in names))


class NamedTwiceIsNamedOnce(MisreadSteps):
    """Axis names are collected in a set."""

    breaks = "collective.C23"

    def read(self, step: Step, program: Program) -> Step:
        return replace(step, axes=tuple(dict.fromkeys(step.axes)))


class AxesAreSorted(MisreadSteps):
    """Axis names become one name for their product, which counts in the order of the mesh."""

    breaks = "collective.C24"

    def read(self, step: Step, program: Program) -> Step:
        order = [axis.name for axis in program.mesh]
        known = set(step.axes) <= set(order)
        return replace(step, axes=tuple(sorted(step.axes, key=order.index)) if known else step.axes)


class UnnamedAxesTakePart(MisreadSteps):
    """There is one communicator, of all ranks, whatever axes are named."""

    breaks = "collective.C25"

    def read(self, step: Step, program: Program) -> Step:
        order = tuple(axis.name for axis in program.mesh)
        whole = set(step.axes) < set(order) and step.axes and step.groups is None
        return replace(step, axes=order) if whole else step


class AnAxisOfOneEndsIt(MisreadSteps):
    """The shortcut for nobody to talk to is taken when any axis has one rank, where all of them should."""

    breaks = "collective.C28"

    def read(self, step: Step, program: Program) -> Step:
        alone = tuple(axis.name for axis in program.mesh if axis.size == 1 and axis.name in step.axes)
        whole = step.groups is None and len(set(step.axes)) == len(step.axes)
        return replace(step, axes=alone or step.axes) if whole else step
