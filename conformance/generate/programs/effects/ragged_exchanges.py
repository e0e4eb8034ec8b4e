"""Ragged exchanges of storage: in place, into views, with a target that does not fit, freed or read too early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.generate import choices
from conformance.specs.operations.ragged_all_to_all import TABLES


@dataclass
class Exchange:
    """A ragged exchange in the making, of the inputs of a drawn case."""

    plain: Case
    how: str
    after: str
    waits: bool
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Let every input be one that a buffer may begin as, and have a spare one of the same shapes."""
        self.inputs = {name: _placeable(operand) for name, operand in self.plain.inputs.items()}
        self.names = {name: name for name in self.inputs}
        self.inputs["spare"] = self.inputs["other"] = _turned(self.inputs["output"])

    def buffer(self, source: str) -> str:
        """Let an operand be a buffer, or make one of another input."""
        self.steps.append(Step(op="buffer", inputs=(source,), outputs=(f"b_{source}",), axes=()))
        self.names[source] = f"b_{source}"
        return f"b_{source}"

    def alike(self, one: str, other: str) -> bool:
        """Return whether two operands have the same shapes and dtypes."""
        first, second = (self.inputs[name].blocks for name in (one, other))
        return [(a.shape, a.dtype) for a in first] == [(a.shape, a.dtype) for a in second]

    def uniform(self, name: str) -> bool:
        """Return whether all ranks have blocks of one shape."""
        return len({block.shape for block in self.inputs[name].blocks}) == 1

    def viewed(self, source: str, how: str) -> str:
        """Return a view with the shape of an operand, of a buffer that its elements are in."""
        shape = self.inputs[source].blocks[0].shape
        wider = {"part": lambda a: np.concatenate([a[:1], a]), "stepped": lambda a: np.repeat(a, 2, 0)}
        wider |= {"ordered": lambda a: np.moveaxis(a, 0, -1), "nested": lambda a: np.concatenate([a[:1], a[:1], a])}
        if how in wider and not (how == "ordered" and len(shape) < 2):
            self.inputs[source] = _changed(self.inputs[source], wider[how])
        base = self.buffer(source)
        rest = tuple(map(range, shape[1:]))
        rows = {"turned": range(shape[0] - 1, -1, -1), "stepped": range(0, 2 * shape[0], 2)}
        first = {"part": range(1, shape[0] + 1), "nested": range(1, shape[0] + 2)} | rows
        if how == "ordered" and len(shape) > 1:
            return self.view(base, (*rest, range(shape[0])), (len(shape) - 1, *range(len(shape) - 1)))
        name = self.view(base, (first.get(how, range(shape[0])), *rest))
        return self.view(name, (range(1, shape[0] + 1), *rest)) if how == "nested" else name

    def view(self, base: str, ranges: tuple[range, ...], order: tuple[int, ...] = ()) -> str:
        """Add a view of storage."""
        attrs: dict[str, Attr] = {
            word: tuple(getattr(one, word) for one in ranges) for word in ("start", "stop", "step")
        }
        name = f"v{len(self.steps)}"
        step = Step(
            op="view", inputs=(base,), outputs=(name,), axes=(), attrs=attrs | ({"order": order} if order else {})
        )
        self.steps.append(step)
        return name

    def aside(self) -> None:
        """Add a step on other storage, of the class that is drawn, if one is."""
        word, call = self.after, self.plain.program.steps[0]
        if word == "nothing":
            return
        base = self.buffer("other")
        spread = Step(
            op="broadcast", inputs=(base,), outputs=("q",), axes=call.axes, groups=call.groups, attrs={"root": 0}
        )
        if word == "view" and self.uniform("other"):
            self.view(base, tuple(map(range, self.inputs["other"].blocks[0].shape)))
        elif word == "assign":
            self.assign(base, "output")
        elif word == "copy":
            self.steps.append(Step(op="copy", inputs=(base,), outputs=("o",), axes=()))
        elif word == "free":
            self.steps.append(Step(op="free", inputs=(base,), outputs=(), axes=()))
        elif word == "spread":
            self.steps.append(spread)
        elif word in ("start", "done"):
            self.steps.append(replace(spread, start=True, outputs=("u",)))
            if word == "done":
                self.steps.append(Step(op="done", inputs=("u",), outputs=("q",), axes=()))

    def assign(self, target: str, value: str) -> None:
        """Assign a value to a target."""
        self.steps.append(Step(op="assign", inputs=(target, value), outputs=(), axes=()))

    def run(self, *into: str, start: bool) -> None:
        """Add the exchange, into targets, with a step beside it; its operand may be a view if it is an input."""
        if self.how != "none" and self.names["operand"] == "operand" and self.uniform("operand"):
            self.names["operand"] = self.viewed("operand", self.how)
        self.aside()
        operands = tuple(self.names[name] for name in ("operand", "output", *TABLES))
        step = self.plain.program.steps[0]
        self.steps.append(replace(step, inputs=operands, into=into, outputs=("y" if not start else "t",), start=start))

    def case(self, *, start: bool) -> Case:
        """Wait where something was started, and return the result and all that is written."""
        if start and self.waits:
            self.steps.append(Step(op="done", inputs=("t",), outputs=("y",), axes=()))
        buffers = tuple(step.outputs[0] for step in self.steps if step.op == "buffer")
        freed = {step.inputs[0] for step in self.steps if step.op == "free"}
        copies = tuple(step.outputs[0] for step in self.steps if step.op == "copy")
        results = (
            *(("y",) if self.waits or not start else ()),
            *copies,
            *(name for name in buffers if name not in freed),
        )
        used = {name for step in self.steps for name in step.inputs}
        program = Program(mesh=self.plain.program.mesh, steps=tuple(self.steps), results=results)
        return Case(program=program, inputs={name: x for name, x in self.inputs.items() if name in used})


def _into(one: Exchange, *, start: bool) -> None:
    one.run(one.buffer("spare"), start=start)


def _in_place(one: Exchange, *, start: bool) -> None:
    one.run(one.buffer("output"), start=start)


def _both(one: Exchange, *, start: bool) -> None:
    """Let the operand be the storage that is written, where it has its shape."""
    if one.alike("operand", "output"):
        one.names["operand"] = one.buffer("output")
    one.run(one.names["operand"] if one.names["operand"] != "operand" else one.buffer("output"), start=start)


def _output_kept(one: Exchange, *, start: bool) -> None:
    """Write over the operand that the result is like."""
    buffer = one.buffer("output")
    one.run(start=start)
    one.assign(buffer, "spare")


def _sizes_kept(one: Exchange, *, start: bool) -> None:
    """Write over the sizes, of which other operands are the right ones."""
    value = next((name for name in ("output_offsets", "recv_sizes") if one.alike("send_sizes", name)), None)
    if value is None:
        _output_kept(one, start=start)
        return
    buffer = one.buffer("send_sizes")
    one.run(start=start)
    one.assign(buffer, value)


def _operand_freed(one: Exchange, *, start: bool) -> None:
    buffer = one.buffer("operand")
    one.run(start=start)
    one.steps.append(Step(op="free", inputs=(buffer,), outputs=(), axes=()))
    one.buffer("spare")


def _returned(one: Exchange, *, start: bool) -> None:
    """Write to the target, or, where it is there, to what was returned."""
    buffer = one.buffer("spare")
    one.run(buffer, start=start)
    one.assign(buffer if start else "y", "output")


def _read_early(one: Exchange, *, start: bool) -> None:
    """Read the target before anybody waits."""
    buffer = one.buffer("output")
    one.run(buffer, start=start)
    one.steps.append(Step(op="copy", inputs=(buffer,), outputs=("c",), axes=()))


def _plain(one: Exchange, *, start: bool) -> None:
    """Make the exchange alone."""
    one.run(start=start)


def _made(one: Exchange, *, start: bool) -> None:
    """Let the operand be what another step made."""
    one.steps.append(Step(op="copy", inputs=(one.buffer("operand"),), outputs=("c",), axes=()))
    one.names["operand"] = "c"
    one.run(start=start)


def _overlapping(one: Exchange, *, start: bool) -> None:
    """Let the operand be the storage that is written, from behind, where it has its shape."""
    if one.alike("operand", "output") and one.uniform("output"):
        one.names["operand"] = one.viewed("output", "turned")
        one.run(one.names["output"], start=start)
    else:
        _into(one, start=start)


def _of_another_shape(one: Exchange, *, start: bool) -> None:
    """Write into storage that is like the operand, which may have other rows."""
    one.run(one.buffer("operand"), start=start)


def _of_another_dtype(one: Exchange, *, start: bool) -> None:
    """Write into storage that is like a table."""
    one.run(one.buffer("recv_sizes"), start=start)


def _too_many(one: Exchange, *, start: bool) -> None:
    one.run(one.buffer("spare"), one.buffer("output"), start=start)


WAYS: Final = choices.steered(
    [
        *[_into, _in_place, _both, _output_kept, _sizes_kept, _operand_freed, _returned, _read_early] * 2,
        *[_made, _overlapping, _plain, _plain] * 2,
        *[_of_another_shape, _of_another_dtype, _too_many],
    ],
    ("layout",),
    lambda way: ("made" if way is _made else "",),
)
HOW_VIEWED: Final = choices.steered(
    [*["none"] * 15, "part", "stepped", "turned", "ordered", "nested"], ("view",), lambda how: (how,)
)
BESIDE: Final = choices.sampled_from([*["nothing"] * 18, "start", "view", "assign", "copy", "free", "done", "spread"])
WAITS: Final = choices.steered(
    [True, True, True, True, False], ("start",), lambda waits: ("waited" if waits else "never",)
)


def _placeable(operand: Operand) -> Operand:
    """Return the operand in layouts that a buffer may have."""
    layouts: tuple[Layout, ...] = tuple("strided" if one == "broadcast" else one for one in operand.layouts)
    return replace(operand, layouts=layouts)


def _turned(operand: Operand) -> Operand:
    """Return an operand of the same shapes that holds the elements the other way round."""
    return _changed(operand, np.flip)


def _changed(operand: Operand, change: Callable[[Array], Array]) -> Operand:
    """Return an operand with each block changed."""
    return replace(operand, blocks=tuple(from_array(change(to_array(block))) for block in operand.blocks))
