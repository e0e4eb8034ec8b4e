"""An HLO module and its buffer assignment as values, read from the messages of ``xla/service/hlo.proto``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from conformance.backends.jax.hlo.wire import Message
from conformance.cases.tensor.dtypes import NUMPY, Array

DTYPES: Final = {
    1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32", 9: "uint64",
    10: "float16", 11: "float32", 12: "float64", 16: "bfloat16", 19: "float8_e5m2", 20: "float8_e4m3fn",
    23: "float8_e4m3b11fnuz", 24: "float8_e5m2fnuz", 25: "float8_e4m3fnuz", 28: "float8_e4m3", 29: "float8_e3m4",
}  # fmt: skip
"""Names of ``PrimitiveType``, of ``xla/xla_data.proto``; tuples, tokens, complex and packed types are not here."""

TUPLE: Final = 13

_LITERALS: Final = {
    "int8": 15, "int16": 17, "uint8": 3, "uint16": 16, "float16": 11, "bfloat16": 13, "float8_e5m2": 19,
    "float8_e4m3fn": 20, "float8_e4m3b11fnuz": 23, "float8_e5m2fnuz": 24, "float8_e4m3fnuz": 25, "float8_e4m3": 28,
    "float8_e3m4": 29, "float32": 8, "float64": 9,
}  # fmt: skip
"""Fields of ``LiteralProto`` that hold the elements' own bytes."""

_VARINTS: Final = {"bool": 2, "int32": 4, "int64": 5, "uint32": 6, "uint64": 7}


@dataclass(frozen=True)
class Shape:
    """Dtype, extents, and the axes from the fastest to the slowest in memory; of a tuple its ``parts``.

    ``tiles`` cut memory one after the other, and ``space`` numbers the memory, of compilers that have several.
    """

    dtype: str
    extents: tuple[int, ...]
    order: tuple[int, ...]
    parts: tuple[Shape, ...] = ()
    tiles: tuple[tuple[int, ...], ...] = ()
    space: int = 0

    @property
    def strides(self) -> tuple[int, ...]:
        """Return the distance along each axis, in elements."""
        found, step = [0] * len(self.extents), 1
        for axis in self.order:
            found[axis] = step
            step *= self.extents[axis]
        return tuple(found)

    @property
    def count(self) -> int:
        """Return the number of elements."""
        return math.prod(self.extents)


@dataclass(frozen=True)
class Instruction:
    """One instruction; ``message`` has what only some kinds have."""

    id: int
    name: str
    opcode: str
    shape: Shape
    operands: tuple[int, ...]
    called: tuple[int, ...]
    message: Message

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Return the axes that it names."""
        return self.message.numbers(14)

    @property
    def parameter(self) -> int:
        """Return the number of a parameter."""
        return self.message.number(9)


@dataclass(frozen=True)
class Computation:
    """Instructions by id, operands before users, and which of them is the result."""

    instructions: dict[int, Instruction]
    root: Instruction


@dataclass(frozen=True)
class Module:
    """The entry computation, its instructions in the order in which they run, and all computations by id.

    ``orders`` has the ids of the instructions in the order in which they run, of each computation that has one.
    ``donated`` has for parts of the result the number of the parameter in whose memory each lies.
    """

    entry: Computation
    sequence: tuple[Instruction, ...]
    computations: dict[int, Computation]
    orders: dict[int, tuple[int, ...]] = field(default_factory=dict)
    donated: tuple[tuple[tuple[int, ...], int], ...] = ()


Where = tuple[int, tuple[int, ...]]
"""An instruction by id, and the part of the tuple that it gives."""


@dataclass(frozen=True)
class Slot:
    """A value's bytes: ``size`` of them from ``offset`` on in allocation ``index``."""

    index: int
    offset: int
    size: int


@dataclass(frozen=True)
class Allocation:
    """Memory that XLA plans at once: a parameter's, a result's, a constant's, or for temporary values."""

    index: int
    size: int
    parameter: int | None
    result: bool
    constant: bool


@dataclass(frozen=True)
class Assignment:
    """Where each value that instructions define, or hand on, lies."""

    allocations: dict[int, Allocation]
    slots: dict[Where, Slot]


def read_module(encoded: bytes) -> Module:
    """Return the module of an ``HloModuleProto``."""
    message = Message(encoded)
    found = {each.number(5): _computation(each) for each in message.messages(3)}
    entry_id = message.number(6)
    entry = found[entry_id]
    sequences = {each.number(1): each.message(2).numbers(1) for each in message.message(7).messages(1)}
    order = sequences.get(entry_id, tuple(entry.instructions))
    donated = tuple((each.numbers(1), each.number(2)) for each in message.message(8).messages(1))
    return Module(entry, tuple(entry.instructions[each] for each in order), found, sequences, donated)


def read_assignment(encoded: bytes) -> Assignment:
    """Return the assignment of a ``BufferAssignmentProto``."""
    message = Message(encoded)
    defined = {each.number(1): _where(each.message(3)) for each in message.messages(1)}
    allocations, slots, by_id = {}, {}, {}
    for each in message.messages(3):
        index = each.number(1)
        parameter = each.number(6) if each.number(5) else None
        allocations[index] = Allocation(
            index, each.number(2), parameter, bool(each.number(7)), bool(each.number(12) or each.number(3))
        )
        for part in each.messages(9):
            by_id[part.number(1)] = Slot(index, part.number(2), part.number(3))
            slots[defined[part.number(1)]] = by_id[part.number(1)]
    for each in message.messages(2):
        if each.number(1) in by_id:
            slots.setdefault(_where(each.message(2)), by_id[each.number(1)])
    return Assignment(allocations, slots)


def _where(message: Message) -> Where:
    return message.number(4), message.numbers(3)


def _computation(message: Message) -> Computation:
    found = [_instruction(each) for each in message.messages(2)]
    by_id = {each.id: each for each in found}
    return Computation(by_id, by_id[message.number(6)])


def _instruction(message: Message) -> Instruction:
    return Instruction(
        id=message.number(35),
        name=message.text(1),
        opcode=message.text(2),
        shape=read_shape(message.message(3)),
        operands=message.numbers(36),
        called=message.numbers(38),
        message=message,
    )


def read_shape(message: Message) -> Shape:
    """Return the shape of a ``ShapeProto``; the dtype of what has none of ours is its number."""
    kind, extents = message.number(2), message.numbers(3)
    layout = message.message(5)
    order = layout.numbers(1) if extents else ()
    parts = tuple(read_shape(each) for each in message.messages(4)) if kind == TUPLE else ()
    tiles = tuple(each.numbers(1) for each in layout.messages(6))
    return Shape(DTYPES.get(kind, str(kind)), extents, order, parts, tiles, layout.number(8))


def literal(instruction: Instruction) -> Array:
    """Return the array that a constant is; raise ``KeyError`` for a dtype that is none of ours."""
    message, dtype = instruction.message.message(8), instruction.shape.dtype
    if dtype in _VARINTS:
        flat = np.array(message.numbers(_VARINTS[dtype]), np.int64).astype(NUMPY[dtype])
    else:
        flat = np.frombuffer(message.content(_LITERALS[dtype]), NUMPY[dtype])
    order = read_shape(message.message(1)).order or tuple(reversed(range(len(instruction.shape.extents))))
    slowest_first = tuple(reversed(order))
    stored = flat.reshape([instruction.shape.extents[axis] for axis in slowest_first])
    return stored.transpose(np.argsort(slowest_first)) if slowest_first else stored.reshape(())
