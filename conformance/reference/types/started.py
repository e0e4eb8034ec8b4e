"""The rules about values that are only started: one waits for them, with the done of their operation."""

from __future__ import annotations

from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.reference.types.ill_typed import IllTyped


def refuse_pending(program: TypedProgram, step: TypedStep) -> None:
    """Raise ``IllTyped`` for a done of anything but what is started, and for anything else of what is."""
    started = program.started
    if step.op != "done":
        if pending := [name for name in step.inputs if name in started]:
            raise IllTyped("starts.C10", f"{pending[0]!r} is only started; {step.op} takes what a done of it gives")
        return
    (name,) = step.inputs
    if name not in started:
        raise IllTyped("starts.C8", f"{name!r} is not started; a done takes what is")
    if started[name] != step.attrs["of"]:
        raise IllTyped("starts.C9", f"{name!r} is a started {started[name]}, and the done is of {step.attrs['of']}")
