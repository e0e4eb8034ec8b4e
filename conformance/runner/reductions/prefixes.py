"""The beginnings of a program, each asked for what its last step gives: the first that fails shows which step does.

Of what raises, its collectives one by one show it, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.judging.collectives import acts


def heads(case: Case) -> Iterator[Case]:
    """Yield the program up to each collective but the last step, shortest first; none where something befalls ranks."""
    program = case.program
    for index, step in enumerate(() if case.faults else program.steps[:-1]):
        if step.axes and step.outputs and not step.start:
            steps = program.steps[: index + 1]
            named = {name for each in steps for name in (*each.inputs, *each.into)} | {*step.outputs}
            inputs = {name: operand for name, operand in case.inputs.items() if name in named}
            yield replace(case, program=replace(program, steps=steps, results=step.outputs), inputs=inputs)


def parts(case: Case) -> Iterator[Case]:
    """Yield each collective of a legal program of several as a program of its own, on what it reads there.

    One that is mapped over several operands follows on each of them.
    """
    found = acts(case)
    if len(case.program.steps) > 1:
        yield from {act.call: act.called for act in found}.values()
    yield from (act.alone for act in found if act.alone is not act.called)
