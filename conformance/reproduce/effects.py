"""Steps that are no collectives, in NumPy's words: the storage of buffers and views is NumPy's in every script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.cases.program.effects import NamedValue
from conformance.cases.program.program import Step
from conformance.reproduce.source_text import literal


def storage_of(name: str) -> str:
    """Return the variable that has the array behind a buffer or view."""
    return f"{name}_array"


def window_of(step: Step) -> str:
    """Return the expression of the view that a ``view`` step names."""
    # A view's attributes are lists of integers, by ``names``.
    attrs: dict[str, Any] = dict(step.attrs)
    parts = [range(*each) for each in zip(attrs["start"], attrs["stop"], attrs["step"], strict=True)]
    slices = "".join(f"{_slice(part)}, " for part in parts)
    order = tuple(attrs.get("order", ()))
    return f"{storage_of(step.inputs[0])}[({slices}...)]" + (f".transpose({literal(order)})" if order else "")


@dataclass(frozen=True)
class Words:
    """How a framework says what an effect does: lines with places for names, one below the other.

    ``stored`` makes the tensor ``{name}`` on the memory of the array ``{array}``, which is ``{value}``. ``copied`` and
    ``assigned`` take ``{value}``, ``waited`` the ticket ``{value}``. What was freed is filled where ``fills`` says.
    """

    stored: str
    copied: str
    assigned: str
    waited: str
    fills: str


def effect_lines(step: Step, table: Mapping[str, NamedValue], words: Words) -> Iterator[str]:
    """Yield the lines of a step that is no collective, for one rank."""
    first = step.inputs[0] if step.inputs else ""
    name = step.outputs[0] if step.outputs else ""
    if step.op in ("buffer", "view"):
        value = f"placed(*INPUTS[{literal(first)}][rank])" if step.op == "buffer" else window_of(step)
        yield from words.stored.format(name=name, array=storage_of(name), value=value).splitlines()
    elif step.op == "copy":
        yield words.copied.format(name=name, value=first)
    elif step.op == "assign":
        yield words.assigned.format(name=first, value=step.inputs[1])
    elif step.op == "free":
        held = words.fills.format(name=first, array=storage_of(first))
        yield f"{held}[...] = np.full({held}.nbytes, 0xDB, np.uint8).view({held}.dtype).reshape({held}.shape)"
    else:
        for made, ticket in zip(step.outputs, step.inputs, strict=True):
            yield words.waited.format(name=made, value=ticket)
        yield from (f"{storage_of(made)} = {storage_of(old)}" for made, old in aliased(step, table))


def aliased(step: Step, table: Mapping[str, NamedValue]) -> list[tuple[str, str]]:
    """Return the outputs of a collective or ``done`` that are storage, each with the name whose array that is."""
    known = step.into or step.inputs
    pairs = zip(step.outputs, known, strict=False)
    return [(made, old) for made, old in pairs if table[made].base]


def _slice(part: range) -> str:
    if not part:
        return "slice(0, 0)"
    stop = part[-1] + part.step
    return f"slice({part.start}, {None if stop < 0 else stop}, {part.step})"
