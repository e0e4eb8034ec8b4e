"""The listed reductions of programs of several steps: fewer steps, and steps that do less besides computing.

What is left of a program may be malformed, where a step still needs what is gone; whoever asks finds that it has no
meaning. A name that is gone is replaced by the one that comes nearest to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.program.program import Program, Step


def effect_reductions(case: Case) -> Iterator[Case]:
    """Yield every case that is one listed reduction of several steps smaller; nothing for a program of one.

    Leave out all steps but one, leave out a step, write out of place what is written into storage, run what is
    started, leave out a result.
    """
    steps = case.program.steps
    if len(steps) == 1 and not steps[0].into and not steps[0].start:
        return
    for index, step in enumerate(steps if len(steps) > 1 else ()):
        if step.axes:
            yield _only(case, index)
    for index in reversed(range(len(steps))):
        yield _without(case, index)
    for index, step in enumerate(steps):
        if step.start:
            yield _run_at_once(case, index)
        if step.into:
            yield _with_steps(case, (*steps[:index], replace(step, into=()), *steps[index + 1 :]))
    yield from _with_fewer_results(case)


def _without(case: Case, index: int) -> Case:
    """Return the case without a step; its outputs become its inputs where it has as many, and else are gone."""
    steps = case.program.steps
    step, rest = steps[index], (*steps[:index], *steps[index + 1 :])
    alike = len(step.outputs) == len(step.inputs)
    stands_for = dict(zip(step.outputs, step.inputs, strict=True)) if alike else {}
    # Nobody asks for what a collective did not change.
    others = set(case.program.results) - set(step.outputs)
    gone = set(step.outputs) - (set() if step.axes and not step.start and others else set(stands_for))
    program = replace(case.program, results=tuple(name for name in case.program.results if name not in gone))
    return _renamed(replace(case, program=program), rest, stands_for)


def _only(case: Case, index: int) -> Case:
    """Return the case with one collective alone, on what comes nearest to its operands."""
    steps = case.program.steps
    stands_for: dict[str, str] = {}
    for step in steps[:index]:
        if len(step.outputs) == len(step.inputs):
            pairs = zip(step.outputs, step.inputs, strict=True)
            stands_for |= {output: stands_for.get(name, name) for output, name in pairs}
    alone = replace(steps[index], into=(), start=False)
    made = replace(case, program=replace(case.program, results=alone.outputs))
    return _renamed(made, (alone,), stands_for)


def _run_at_once(case: Case, index: int) -> Case:
    """Return the case in which a step is not started, nor waited for."""
    steps = case.program.steps
    step = steps[index]
    values: dict[str, str] = {}
    left = []
    for number, each in enumerate(steps):
        other = each
        if other.op == "done":
            pairs = list(zip(other.inputs, other.outputs, strict=True))
            values |= {output: ticket for ticket, output in pairs if ticket in step.outputs}
            pairs = [(ticket, output) for ticket, output in pairs if ticket not in step.outputs]
            other = replace(other, inputs=tuple(t for t, _ in pairs), outputs=tuple(o for _, o in pairs))
            if not pairs:
                continue
        left.append(replace(step, start=False) if number == index else other)
    return _renamed(case, tuple(left), values)


def _with_fewer_results(case: Case) -> Iterator[Case]:
    names = case.program.results
    for at in range(len(names) if len(names) > 1 else 0):
        yield replace(case, program=replace(case.program, results=(*names[:at], *names[at + 1 :])))


def _renamed(case: Case, steps: tuple[Step, ...], names: Mapping[str, str]) -> Case:
    """Return the case with other steps, in which some names stand for others."""

    def new(old: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(name, name) for name in old)

    renamed = tuple(replace(step, inputs=new(step.inputs), into=new(step.into)) for step in steps)
    results = tuple(dict.fromkeys(new(case.program.results)))
    return _with_steps(replace(case, program=replace(case.program, results=results)), renamed)


def _with_steps(case: Case, steps: tuple[Step, ...]) -> Case:
    """Return the case with other steps and without inputs that nobody names."""
    named = {*case.program.results, *(name for step in steps for name in step.inputs)}
    program: Program = replace(case.program, steps=steps)
    return replace(case, program=program, inputs={name: x for name, x in case.inputs.items() if name in named})
