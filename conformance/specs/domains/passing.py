"""Programs with effects of operations that are no one block a rank: a send and its recv, and ragged exchanges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Program, Step
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.specs.domains import choose
from conformance.specs.domains.effectful import Script, script
from conformance.specs.operations.ragged_all_to_all import TABLES
from conformance.specs.operations.ragged_all_to_all import programs as ragged


def into(program: Script) -> Case:
    """Receive into a buffer."""
    return program.case(program.recv(program.send(program.input()), (program.target(),)))


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
_WRITES: Final = choose.sampled_from([into, over_what_was_sent, returned, kept, part, misfit, into, over_what_was_sent])
_UNDER_WAY: Final = choose.sampled_from([overwritten, freed, backwards, never, overwritten])
_KINDS: Final = choose.sampled_from(["any", "whole", "whole"])


@choose.composite
def received(draw: choose.Draw, *, under_way: bool) -> Case:
    """Draw a send and a recv of storage: what is written, or with ``under_way`` what happens between the two."""
    template: Callable[[Script], Case] = draw(_UNDER_WAY if under_way else _WRITES)
    return template(script(draw, "permute", shapes=draw(_KINDS)))


@dataclass
class _Exchange:
    """A ragged exchange in the making, of the inputs of a drawn case."""

    plain: Case
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

    def assign(self, target: str, value: str) -> None:
        self.steps.append(Step(op="assign", inputs=(target, value), outputs=(), axes=()))

    def run(self, *into: str, start: bool) -> None:
        operands = tuple(self.names[name] for name in ("operand", "output", *TABLES))
        step = self.plain.program.steps[0]
        self.steps.append(replace(step, inputs=operands, into=into, outputs=("y" if not start else "t",), start=start))

    def case(self, *, start: bool) -> Case:
        """Wait where something was started, and return the result and all that is written."""
        if start:
            self.steps.append(Step(op="done", inputs=("t",), outputs=("y",), axes=()))
        buffers = tuple(step.outputs[0] for step in self.steps if step.op == "buffer")
        freed = {step.inputs[0] for step in self.steps if step.op == "free"}
        copies = tuple(step.outputs[0] for step in self.steps if step.op == "copy")
        results = ("y", *copies, *(name for name in buffers if name not in freed))
        used = {name for step in self.steps for name in step.inputs}
        program = Program(mesh=self.plain.program.mesh, steps=tuple(self.steps), results=results)
        return Case(program=program, inputs={name: x for name, x in self.inputs.items() if name in used})


def _into(one: _Exchange, *, start: bool) -> None:
    one.run(one.buffer("spare"), start=start)


def _in_place(one: _Exchange, *, start: bool) -> None:
    one.run(one.buffer("output"), start=start)


def _both(one: _Exchange, *, start: bool) -> None:
    """Let the operand be the storage that is written, where it has its shape."""
    output, operand = (one.inputs[name].blocks for name in ("output", "operand"))
    if [(a.shape, a.dtype) for a in output] == [(a.shape, a.dtype) for a in operand]:
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
        *[_of_another_shape, _of_another_dtype, _too_many],
    ]
)


@choose.composite
def exchanged(draw: choose.Draw, *, start: bool) -> Case:
    """Draw a ragged exchange of storage, at once or started and waited for."""
    one = _Exchange(draw(ragged()))
    draw(_WAYS)(one, start=start)
    return one.case(start=start)


def _placeable(operand: Operand) -> Operand:
    """Return the operand in layouts that a buffer may have."""
    layouts: tuple[Layout, ...] = tuple("strided" if one == "broadcast" else one for one in operand.layouts)
    return replace(operand, layouts=layouts)


def _turned(operand: Operand) -> Operand:
    """Return an operand of the same shapes that holds the elements the other way round."""
    blocks = tuple(from_array(np.flip(to_array(block))) for block in operand.blocks)
    return replace(operand, blocks=blocks)


WRITTEN: Final = {"recv": received(under_way=False), "ragged_all_to_all": exchanged(start=False)}
"""Programs of the suite ``aliasing``."""

UNDER_WAY: Final = {"recv": received(under_way=True), "ragged_all_to_all": exchanged(start=True)}
"""Programs of the suite ``async``."""
