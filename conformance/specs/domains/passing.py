"""Programs with effects of operations that are no one block a rank: a send and its recv, and ragged exchanges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.reference.situations import CLASSES
from conformance.specs.domains import choose
from conformance.specs.domains.called import call_of
from conformance.specs.domains.chains import OPS_OF
from conformance.specs.domains.effectful import Script, script
from conformance.specs.operations.ragged_all_to_all import TABLES
from conformance.specs.operations.ragged_all_to_all import programs as ragged


def into(program: Script) -> Case:
    """Receive into storage."""
    return program.case(program.recv(program.send(_operand(program)), (program.place(program.result, program.dtype),)))


def between(program: Script) -> Case:
    """Let something else happen between a send and its recv, with another collective, or storage of its own."""
    before, after = program.drawn.draw(_BEFORE), program.drawn.draw(_AFTER)
    aside(program, before)
    token = program.send(_operand(program))
    aside(program, after)
    return program.case(program.recv(token))


def aside(program: Script, word: str) -> None:
    """Do a step of a class, on nothing that anything else uses."""
    if word == "query":
        program.query("axis_index", {})
    elif word == "start":
        program.run_beside(start=True)
    elif word == "done":
        program.done(program.run_beside(start=True))
    elif word in OPS_OF:
        drawn, call = call_of(program.drawn.draw, program.drawn.draw.one(OPS_OF[word][:2]), program.drawn, "whole")
        other = replaced(program, drawn=drawn, call=call)
        other.run(other.input())
    elif word != "nothing":
        buffer = program.buffer()
        if word == "view":
            program.view(buffer, tuple(map(range, program.shapes[buffer][0])))
        if word == "assign":
            program.assign(buffer, program.input())
        if word == "copy":
            program.copy(buffer)
        if word == "free":
            program.free(buffer)


def _operand(program: Script) -> str:
    """Return what is sent: an input, storage that may be a view, or what another collective made."""
    how = program.drawn.draw(_HOW)
    return program.input() if how == "input" else program.place() if how == "stored" else program.run_beside()


def over_what_was_sent(program: Script) -> Case:
    """Receive into the buffer that was sent."""
    buffer = program.buffer()
    return program.case(program.recv(program.send(buffer), (buffer,)))


def returned(program: Script) -> Case:
    """Write to what was received into storage, or to the storage."""
    target = program.target()
    name = program.recv(program.send(program.input()), (target,))
    program.assign(name if program.flip() else target, program.written())
    return program.case(name)


def kept(program: Script) -> Case:
    """Write over what was sent, once it has been received."""
    buffer = program.buffer()
    name = program.recv(program.send(buffer))
    program.assign(buffer, program.input())
    return program.case(name)


def part(program: Script) -> Case:
    """Receive into every second element of a larger buffer."""
    shape = program.result[0]
    if not shape:
        return into(program)
    buffer = program.buffer(((*shape[:-1], 2 * shape[-1] + 1),) * program.drawn.world)
    view = program.view(buffer, (*map(range, shape[:-1]), range(1, 2 * shape[-1] + 1, 2)))
    program.recv(program.send(program.input()), (view,))
    return program.case()


def misfit(program: Script) -> Case:
    """Receive into what does not fit."""
    wrong = program.drawn.draw(_MISFITS)
    shapes = tuple((*shape, 2) for shape in program.result) if wrong == "shape" else program.result
    other = "float32" if program.drawn.dtype == "int32" else "int32"
    targets = (program.buffer(shapes, other if wrong == "dtype" else None),) * (1 + (wrong == "count"))
    return program.case(program.recv(program.send(program.input()), targets))


def overwritten(program: Script) -> Case:
    """Write over what is under way."""
    buffer = program.buffer()
    token = program.send(buffer)
    program.assign(buffer, program.input())
    return program.case(program.recv(token))


def freed(program: Script) -> Case:
    """Free what is under way, and use storage of its size again."""
    buffer = program.buffer()
    token = program.send(buffer)
    program.free(buffer)
    program.buffer()
    return program.case(program.recv(token))


def backwards(program: Script) -> Case:
    """Send twice, and receive the second first."""
    buffer = program.buffer()
    first = program.send(buffer)
    program.assign(buffer, program.input())
    second = program.send(buffer)
    return program.case(program.recv(second), program.recv(first))


def never(program: Script) -> Case:
    """Send twice, and receive the second alone."""
    buffer = program.buffer()
    program.send(buffer)
    program.assign(buffer, program.input())
    return program.case(program.recv(program.send(buffer)))


_MISFITS: Final = choose.sampled_from(["shape", "dtype", "count"])
_WRITES: Final = choose.sampled_from(
    [into, over_what_was_sent, returned, kept, part, misfit, into, over_what_was_sent, into, between]
)
_UNDER_WAY: Final = choose.sampled_from([overwritten, freed, backwards, never, overwritten, between, between])
_KINDS: Final = choose.steered(
    [*["any"] * 8, *["whole"] * 15, "long"], ("extent",), lambda kind: ("long" if kind == "long" else "",)
)
_HOW: Final = choose.steered(
    ["input", "stored", "stored", "made"],
    ("layout", "view"),
    lambda how: ("made" if how == "made" else "", "none" if how == "input" else ""),
)
_BEFORE: Final = choose.sampled_from(["nothing", "nothing", "start", "done", "query", "copy"])
_AFTER: Final = choose.steered([*CLASSES, "nothing"], ("after",), lambda word: (word,))


@choose.composite
def received(draw: choose.Draw, *, under_way: bool) -> Case:
    """Draw a send and a recv of storage: what is written, or with ``under_way`` what happens between the two."""
    template: Callable[[Script], Case] = draw(_UNDER_WAY if under_way else _WRITES)
    return template(script(draw, "permute", shapes=draw(_KINDS)))


@dataclass
class _Exchange:
    """A ragged exchange in the making, of the inputs of a drawn case."""

    plain: Case
    how: str
    after: str
    waits: bool
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.inputs = {name: _placeable(operand) for name, operand in self.plain.inputs.items()}
        self.names = {name: name for name in self.inputs}
        self.inputs["spare"] = _turned(self.inputs["output"])

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
        """Add a step on other storage, of the class that is drawn."""
        base, word = self.buffer("spare"), self.after
        call = self.plain.program.steps[0]
        spread = Step(
            op="broadcast", inputs=(base,), outputs=("q",), axes=call.axes, groups=call.groups, attrs={"root": 0}
        )
        if word == "view" and self.uniform("spare"):
            self.view(base, tuple(map(range, self.inputs["spare"].blocks[0].shape)))
        elif word == "assign":
            self.assign(base, "output")
        elif word == "copy":
            self.steps.append(Step(op="copy", inputs=(base,), outputs=("c",), axes=()))
        elif word == "free":
            self.steps.append(Step(op="free", inputs=(base,), outputs=(), axes=()))
        elif word == "spread":
            self.steps.append(spread)
        elif word in ("start", "done"):
            self.steps.append(replace(spread, start=True, outputs=("u",)))
            if word == "done":
                self.steps.append(Step(op="done", inputs=("u",), outputs=("q",), axes=()))

    def assign(self, target: str, value: str) -> None:
        self.steps.append(Step(op="assign", inputs=(target, value), outputs=(), axes=()))

    def run(self, *into: str, start: bool) -> None:
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


def _into(one: _Exchange, *, start: bool) -> None:
    one.run(one.buffer("spare"), start=start)


def _in_place(one: _Exchange, *, start: bool) -> None:
    one.run(one.buffer("output"), start=start)


def _both(one: _Exchange, *, start: bool) -> None:
    """Let the operand be the storage that is written, where it has its shape."""
    if one.alike("operand", "output"):
        one.names["operand"] = one.buffer("output")
    one.run(one.names["operand"] if one.names["operand"] != "operand" else one.buffer("output"), start=start)


def _output_kept(one: _Exchange, *, start: bool) -> None:
    """Write over the operand that the result is like."""
    buffer = one.buffer("output")
    one.run(start=start)
    one.assign(buffer, "spare")


def _sizes_kept(one: _Exchange, *, start: bool) -> None:
    """Write over the sizes, of which other operands are the right ones."""
    if {block.shape for block in one.inputs["recv_sizes"].blocks} != {
        block.shape for block in one.inputs["send_sizes"].blocks
    } or one.inputs["send_sizes"].blocks[0].dtype != one.inputs["recv_sizes"].blocks[0].dtype:
        _output_kept(one, start=start)
        return
    buffer = one.buffer("send_sizes")
    one.run(start=start)
    one.assign(buffer, "output_offsets" if len(one.inputs["output_offsets"].blocks[0].shape) == 1 else "recv_sizes")


def _operand_freed(one: _Exchange, *, start: bool) -> None:
    buffer = one.buffer("operand")
    one.run(start=start)
    one.steps.append(Step(op="free", inputs=(buffer,), outputs=(), axes=()))
    one.buffer("spare")


def _returned(one: _Exchange, *, start: bool) -> None:
    """Write to the target, or, where it is there, to what was returned."""
    buffer = one.buffer("spare")
    one.run(buffer, start=start)
    one.assign(buffer if start else "y", "output")


def _read_early(one: _Exchange, *, start: bool) -> None:
    """Read the target before anybody waits."""
    buffer = one.buffer("output")
    one.run(buffer, start=start)
    one.steps.append(Step(op="copy", inputs=(buffer,), outputs=("c",), axes=()))


def _viewed(one: _Exchange, *, start: bool) -> None:
    """Let the operand be a view, of storage that has more elements, or them in another order."""
    if not one.uniform("operand"):
        _into(one, start=start)
        return
    one.names["operand"] = one.viewed("operand", one.how)
    one.run(*((one.buffer("output"),) if one.how == "part" else ()), start=start)


def _made(one: _Exchange, *, start: bool) -> None:
    """Let the operand be what another step made."""
    one.steps.append(Step(op="copy", inputs=(one.buffer("operand"),), outputs=("c",), axes=()))
    one.names["operand"] = "c"
    one.run(start=start)


def _overlapping(one: _Exchange, *, start: bool) -> None:
    """Let the operand be the storage that is written, from behind, where it has its shape."""
    if one.alike("operand", "output") and one.uniform("output"):
        one.names["operand"] = one.viewed("output", "turned")
        one.run(one.names["output"], start=start)
    else:
        _into(one, start=start)


def _beside(one: _Exchange, *, start: bool) -> None:
    """Let another step come before, on storage of its own."""
    one.aside()
    one.run(start=start)


def _of_another_shape(one: _Exchange, *, start: bool) -> None:
    """Write into storage that is like the operand, which may have other rows."""
    one.run(one.buffer("operand"), start=start)


def _of_another_dtype(one: _Exchange, *, start: bool) -> None:
    """Write into storage that is like a table."""
    one.run(one.buffer("recv_sizes"), start=start)


def _too_many(one: _Exchange, *, start: bool) -> None:
    one.run(one.buffer("spare"), one.buffer("output"), start=start)


_WAYS: Final = choose.sampled_from(
    [
        *[_into, _in_place, _both, _output_kept, _sizes_kept, _operand_freed, _returned, _read_early] * 2,
        *[_viewed, _made, _overlapping, _beside] * 2,
        *[_of_another_shape, _of_another_dtype, _too_many],
    ]
)
_HOW_VIEWED: Final = choose.steered(["part", "stepped", "turned", "ordered", "nested"], ("view",), lambda how: (how,))
_BESIDE: Final = choose.steered(
    ["start", "view", "assign", "copy", "free", "done", "spread"], ("after",), lambda word: (word,)
)
_WAITS: Final = choose.steered(
    [True, True, True, True, False], ("start",), lambda waits: ("waited" if waits else "never",)
)


@choose.composite
def exchanged(draw: choose.Draw, *, start: bool) -> Case:
    """Draw a ragged exchange of storage, at once or started and waited for."""
    one = _Exchange(draw(ragged()), draw(_HOW_VIEWED), draw(_BESIDE), not start or draw(_WAITS))
    draw(_WAYS)(one, start=start)
    return one.case(start=start)


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


WRITTEN: Final = {"recv": received(under_way=False), "ragged_all_to_all": exchanged(start=False)}
"""Programs of the suite ``aliasing``."""

UNDER_WAY: Final = {"recv": received(under_way=True), "ragged_all_to_all": exchanged(start=True)}
"""Programs of the suite ``async``."""
