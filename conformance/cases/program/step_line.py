"""A step of a program as one line of text."""

from __future__ import annotations

import msgspec

from conformance.cases.program.program import NO_COLLECTIVES, Step


def step_line(step: Step) -> str:
    """Return a step as one line: ``y = all_gather(x, axis=0, tiled=true) over i, groups {0 2} {1 3}, on 0 2``."""
    if step.ranks is not None:
        return f"{step_line(msgspec.structs.replace(step, ranks=None))}, on {' '.join(map(str, step.ranks))}"
    attrs = [f"{name}={msgspec.json.encode(value).decode()}" for name, value in step.attrs.items()]
    into = [f"into={', '.join(step.into)}"] if step.into else []
    call = f"{'start ' * step.start}{step.op}({', '.join([*step.inputs, *attrs, *into])})"
    if step.outputs or step.op not in NO_COLLECTIVES:
        call = f"{', '.join(step.outputs)} = {call}"
    if step.op in NO_COLLECTIVES:
        return call
    if step.groups is None:
        return f"{call} over {', '.join(step.axes)}"
    groups = " ".join(f"{{{' '.join(map(str, group))}}}" for group in step.groups) or "none"
    return f"{call} over {', '.join(step.axes)}, groups {groups}"
