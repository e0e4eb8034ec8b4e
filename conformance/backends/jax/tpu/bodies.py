"""The bodies of a TPU's kernels: those of HLO, with tiles, places that a rank's number decides, and pairs of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.bodies.instructions import At, level
from conformance.backends.jax.hlo.body import Source, Translation, place
from conformance.backends.jax.hlo.items import scattered
from conformance.backends.jax.hlo.module import Instruction, Module, literal
from conformance.backends.jax.tpu.elementwise import elementwise
from conformance.backends.jax.tpu.flat import NOWHERE, Flat, through
from conformance.backends.jax.tpu.movement import moved
from conformance.cases.schedule.kernel_body import Bitcast, Body, Load
from conformance.cases.schedule.schedule import Access
from conformance.cases.tensor.dtypes import NUMPY, Array

CALLED: Final = 28
"""The field of a message that names the target of a custom call."""


@dataclass(frozen=True)
class Operand(Source):
    """An operand whose elements are those of a buffer that ``at`` numbers, in row-major order where it is ``None``."""

    at: Array | None = None


class TpuTranslation(Translation):
    """The body of a value on one ``rank``."""

    def __init__(
        self, module: Module, whole: Flat, sources: dict[int, Source], accesses: list[Access], rank: int
    ) -> None:
        """Say whose values are meant."""
        super().__init__(module, whole.computation, sources, accesses)
        self._tiled, self._rank = whole.tiled, rank
        self._fixed: dict[int, Array] = {}

    def _taken(self, source: Source, at: At) -> int:
        if not isinstance(source, Operand) or source.at is None or source.constant is not None:
            return super()._taken(source, at)
        where = np.asarray(source.at[level(at)]) if at else source.at.reshape(())
        if (where == NOWHERE).any():
            raise Unsupported("padding of tiles")
        line = self._lines.add(Load(access=-1), source.dtype)
        self._loads.append((line, source.buffer, where, self._inside))
        return self._as(line, source.shape.dtype)

    def _bitcast(self, node: Instruction, at: At) -> int:
        """Take the element that lies where one of the result does."""
        of = self._of(node, 0)
        moved_from = through(self._tiled[of.id], self._tiled[node.id])
        flat = np.asarray(moved_from[level(at)]) if at else moved_from.reshape(())
        if (flat == NOWHERE).any():
            raise Unsupported("padding of tiles")
        there, index = [], flat
        for extent in reversed(of.shape.extents):
            there.append(np.zeros((), np.int64) if extent == 1 else index % max(extent, 1))
            index = index // max(extent, 1)
        return self._as(self._line(of, tuple(reversed(there))), node.shape.dtype)

    def _partition_id(self, node: Instruction, at: At) -> int:
        del at
        return self._lines.constant(self._rank, node.shape.dtype)

    def _replica_id(self, node: Instruction, at: At) -> int:
        del at
        return self._lines.constant(0, node.shape.dtype)

    def _dynamic_slice(self, node: Instruction, at: At) -> int:
        of = self._of(node, 0)
        begins = self._begins(node, 1, of, node.shape.extents)
        return self._line(of, tuple(begin + each for begin, each in zip(begins, at, strict=True)))

    def _dynamic_update_slice(self, node: Instruction, at: At) -> int:
        """Take the update where it lies, and the operand elsewhere."""
        of, update = self._of(node, 0), self._of(node, 1)
        begins = self._begins(node, 2, of, update.shape.extents)
        lines, inside = self._lines, list[int]()
        if not update.shape.count:
            return self._line(of, at)
        for begin, extent, whole, each in zip(begins, update.shape.extents, of.shape.extents, at, strict=True):
            if extent != whole:
                index = lines.index(each)
                first = lines.alu("lt", lines.constant(begin - 1, "int64"), index)
                inside.append(lines.alu("and", first, lines.alu("lt", index, lines.constant(begin + extent, "int64"))))
        there = tuple(
            np.clip(each - begin, 0, extent - 1)
            for begin, extent, each in zip(begins, update.shape.extents, at, strict=True)
        )
        value = self._line(update, there)
        if not inside:
            return value
        condition = inside[0]
        for line in inside[1:]:
            condition = lines.alu("and", condition, line)
        return lines.alu("where", condition, value, self._line(of, at))

    def written(self, root: Instruction, buffer: str) -> list[Body]:
        """Return the bodies that store a value: of a scatter first its operand, and then the elements that it sets."""
        if root.opcode != "scatter":
            return [self.stored(root, buffer)]
        update = self._of(root, 2)
        combined = self._module.computations[root.called[0]]
        fold = combined.root
        while fold.opcode == "bitcast":
            fold = combined.instructions[fold.operands[0]]
        if (fold.opcode, fold.parameter) != ("parameter", 1):
            raise Unsupported("a scatter that computes")
        at = scattered(root, update, self._known_value(self._of(root, 1)))
        before = [self.stored(self._of(root, 0), buffer)]
        return [*before, self.stored_at(update, at, buffer, phase=1)] if update.shape.count else before

    def _begins(self, node: Instruction, first: int, of: Instruction, sizes: tuple[int, ...]) -> list[int]:
        """Return where a slice begins, moved so that all of it is inside; raise ``Unsupported`` where data say it."""
        given = [int(self._known_value(self._of(node, n)).reshape(-1)[0]) for n in range(first, len(node.operands))]
        return [
            min(max(begin, 0), extent - size)
            for begin, extent, size in zip(given, of.shape.extents, sizes, strict=True)
        ]

    def _known_value(self, node: Instruction) -> Array:
        """Return what a value is on this rank whatever the data are; raise ``Unsupported`` where it depends on them."""
        if node.id not in self._fixed:
            self._fixed[node.id] = self._computed(node)
        return self._fixed[node.id]

    def _computed(self, node: Instruction) -> Array:
        source = self._sources.get(node.id)
        if source is not None:
            if source.constant is None:
                raise Unsupported("a place that data choose")
            return source.constant
        if node.opcode == "constant":
            return literal(node)
        if node.opcode in ("partition-id", "replica-id"):
            return np.array(self._rank if node.opcode == "partition-id" else 0, NUMPY[node.shape.dtype])
        of = [self._of(node, number) for number in range(len(node.operands))]
        given = [self._known_value(each)[None] for each in of]
        found = elementwise(node, given)
        found = moved(node, given, of, 1) if found is None else found
        if found is None:
            raise Unsupported(f"a place that {node.opcode} gives")
        return np.asarray(found[0])

    def _select(self, node: Instruction, at: At) -> int:
        """Take the branch alone that is known to be taken on this rank."""
        which = self._of(node, 0)
        try:
            chosen = self._known_value(which)
        except Unsupported:
            return super()._select(node, at)
        if not chosen.size or (chosen.reshape(-1) != chosen.reshape(-1)[0]).any():
            return super()._select(node, at)
        return self._line(self._of(node, 1 if chosen.reshape(-1)[0] else 2), at)

    # ---- words of the compiler's own

    def _convolution(self, node: Instruction, at: At) -> int:
        """A product of matrices is a convolution without a window."""
        numbers, message = node.message.message(16), node.message
        if message.message(15).messages(1) or message.number(50) > 1 or message.number(58) > 1:
            raise Unsupported("a convolution with a window")
        left, right = (self._of(node, number) for number in range(2))
        (axis,) = self._axes([left.shape.extents[numbers.number(8)]], at)
        places: list[dict[int, Array]] = [
            {numbers.number(7): at[numbers.number(9)], numbers.number(8): self._lines.along(axis)},
            {numbers.number(3): self._lines.along(axis), numbers.number(4): at[numbers.number(10)]},
        ]
        of = [
            self._lines.cast(self._line(each, tuple(where[a] for a in range(len(where)))), node.shape.dtype)
            for each, where in zip((left, right), places, strict=True)
        ]
        return self._lines.fold("add", self._lines.alu("mul", *of), (axis,))

    def _custom_call(self, node: Instruction, at: At) -> int:
        lines, target = self._lines, node.message.text(CALLED)
        of = [self._line(self._of(node, number), at) for number in range(len(node.operands))]
        if any(lines.dtypes[each].startswith("float") for each in of):
            raise Unsupported(f"a custom call of {target!r} of floats")
        if target == "X64SplitLow":
            return self._same_bits(lines.cast(self._same_bits(of[0], "uint64"), "uint32"), node.shape.dtype)
        if target == "X64SplitHigh":
            wide = self._same_bits(of[0], "uint64")
            high = lines.alu("shr", wide, lines.constant(32, "uint64"))
            return self._same_bits(lines.cast(high, "uint32"), node.shape.dtype)
        if target == "X64Combine":
            low, high = (lines.cast(self._same_bits(each, "uint32"), "uint64") for each in of)
            wide = lines.alu("or", low, lines.alu("shl", high, lines.constant(32, "uint64")))
            return self._same_bits(wide, node.shape.dtype)
        raise Unsupported(f"a custom call of {target!r}")

    def _same_bits(self, line: int, dtype: str) -> int:
        if self._lines.dtypes[line] == dtype:
            return line
        return self._lines.add(Bitcast(of=line, dtype=dtype), dtype)


def row_major(operand: Operand) -> Array:
    """Return the number in its buffer of each element of an operand."""
    if operand.at is not None:
        return operand.at
    indices = tuple(np.indices(operand.shape.extents, np.int64))
    return np.broadcast_to(place(operand.shape, indices), operand.shape.extents)
