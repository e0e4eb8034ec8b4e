"""A step that computes on each rank alone becomes a kernel on each device: instructions over what it reads."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from conformance.backends.opencl.graph import rejections as no
from conformance.backends.opencl.graph.constant_folding import converted
from conformance.backends.opencl.graph.index_map import Affine, IndexMap, affine, composed, identity, over
from conformance.backends.opencl.graph.node import (
    Computed,
    Fill,
    Instruction,
    Launch,
    Movement,
    Node,
    Opened,
    root,
    whole,
)
from conformance.backends.opencl.graph.reductions import FOLDS, of_nothing
from conformance.backends.opencl.graph.storage import frozen
from conformance.backends.opencl.graph.value import Values
from conformance.backends.opencl.graph.view import View
from conformance.cases.case_error import CaseError
from conformance.cases.program.computing import Block, leaf, nodes
from conformance.cases.program.program import Program, Step
from conformance.cases.schedule.kernel_body import Alu, Cast, Load, Reduce, Store
from conformance.cases.tensor.dtypes import NUMPY

Blocks = tuple[Movement, ...]

REASON: Final = "a step computes it"
"""Why such a kernel is one of its own."""

MOST_READS: Final = 6
"""Storages that a kernel reads for values that are computed in it, at most."""


def computed(
    step: Step, operands: Sequence[Blocks], lanes: int, alone: Collection[str], kept: Collection[str]
) -> Blocks:
    """Return what a step gives on each rank; raise ``WrongValueError`` for operands that do not fit.

    ``lanes`` is how many float32 a vector has, 0 where none may be used. Values that it takes ``alone`` are computed in
    its kernel where they are elementwise, of what stays what it is: buffers that are ``kept`` do.
    """
    return tuple(_on(step, blocks, lanes, alone, kept) for blocks in zip(*operands, strict=True))


def unwritten(program: Program) -> frozenset[str]:
    """Return the buffers that hold to the end what they began with."""
    bases = {step.outputs[0]: step.outputs[0] for step in program.steps if step.op == "buffer"}
    written: set[str] = set()
    for step in program.steps:
        if step.op in ("view", "done"):
            pairs = zip(step.outputs, step.inputs, strict=True)
            bases |= {new: bases[old] for new, old in pairs if old in bases}
        targets = (*step.into, *(step.inputs[:1] if step.op in ("assign", "free") else ()))
        bases |= {new: bases[old] for new, old in zip(step.outputs, step.into, strict=False) if old in bases}
        written.update(bases[name] for name in targets if name in bases)
    return frozenset(bases.values()) - written


def used_once(program: Program) -> frozenset[str]:
    """Return the values that one step alone takes, once, and that are no results."""
    count = Counter((*(name for step in program.steps for name in step.inputs), *program.results))
    return frozenset(name for name, times in count.items() if times == 1 and name not in program.results)


def _on(step: Step, blocks: Blocks, lanes: int, alone: Collection[str], kept: Collection[str]) -> Movement:
    """Return what a step gives on the device of its operands."""
    device, name = blocks[0].node.device, f"{step.outputs[0]}[{blocks[0].node.device}]"
    kinds = [Block(block.node.dtype, block.view.shape) for block in blocks]
    try:
        made = nodes(step.op, step, [leaf(str(number), each) for number, each in enumerate(kinds)], name)
    except CaseError as error:
        raise no.WrongValueError(str(error)) from None
    shape, dtype = tuple(int(extent) for extent in made[-1].shape), made[-1].dtype
    size, asked = math.prod(shape), tuple(node.id for node in made if node.op not in ("reshape", "expand"))
    if not size or not all(block.view.size for block in blocks):
        return whole(_filled(step, device, dtype, shape), shape)
    terms = math.prod(blocks[0].view.shape) // size if step.op == "fold" else 0
    if terms == 1:
        return _moved(step, blocks[0], shape, name)
    kernel = _Kernel([each in alone for each in step.inputs], kept)
    extents = {"fold": _fold, "dot": _dot}.get(step.op, _elementwise)(kernel, step, blocks, shape, dtype)
    if step.op == "dot" and extents[-1] == 1:
        # Of one product each there is no sum.
        asked = tuple(node.id for node in made if node.op in ("alu", "cast"))
        name = made[-1].id if made[-1].op == "cast" else asked[-1]
    launch = kernel.launch(extents, device, dtype, shape, asked, lanes)
    return whole(Computed(device, dtype, size, launch, 0, name), shape)


def _moved(step: Step, block: Movement, shape: tuple[int, ...], name: str) -> Movement:
    """Return what a fold of one term each gives: the elements themselves, of storage a copy."""
    axes: Sequence[int] = tuple(step.attrs["axes"])  # type: ignore[arg-type]  # numbers, by ``nodes``
    kept = [axis for axis in range(len(block.view.shape)) if axis not in axes]
    view = View(shape, tuple(block.view.strides[axis] for axis in kept), block.view.offset)
    moved = Movement(block.node, view)
    return frozen(moved, name.rpartition("[")[0]) if isinstance(root(block.node), Opened) else moved


@dataclass
class _Kernel:
    """A kernel in the making: its instructions, and what it reads by which maps.

    ``alone`` says of each operand whether nobody else takes it; ``inside`` are the nodes that it computes on the way.
    """

    alone: Sequence[bool]
    kept: Collection[str]
    lines: list[Instruction] = field(default_factory=list)
    reads: list[tuple[Node, IndexMap]] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)

    def add(self, line: Instruction) -> int:
        """Add an instruction, and return its number."""
        self.lines.append(line)
        return len(self.lines) - 1

    def operand(self, number: int, node: Node, at: Affine) -> int:
        """Load the elements of an operand that a map names, or compute them where nobody else takes them."""
        if not (self.alone[number] and isinstance(node, Computed) and self._fuses(node.launch)):
            self.reads.append((node, (at,)))
            return self.add(Load(access=len(self.reads) - 1))
        first, accesses = len(self.lines), len(self.reads)
        for line in node.launch.instructions[:-1]:
            if isinstance(line, Load):
                self.add(Load(access=accesses + line.access))
            elif isinstance(line, Alu):
                self.add(Alu(op=line.op, of=tuple(first + each for each in line.of)))
            elif isinstance(line, Cast):
                self.add(Cast(of=first + line.of, dtype=line.dtype))
        self.reads += [(read, composed((at,), found)) for read, found in node.launch.reads]
        self.inside += node.launch.asked
        return len(self.lines) - 1

    def _fuses(self, launch: Launch) -> bool:
        """Return whether a kernel is elementwise and reads nothing that is overwritten later."""
        plain = launch.reason == REASON and launch.outer == len(launch.extents)
        stored = [read for read, _ in launch.reads if isinstance(root(read), Opened)]
        written = any(not isinstance(read, Opened) or read.name not in self.kept for read in stored)
        return plain and not written and len(self.reads) + len(launch.reads) <= MOST_READS

    def launch(
        self,
        extents: tuple[int, ...],
        device: int,
        dtype: str,
        shape: tuple[int, ...],
        asked: tuple[str, ...],
        lanes: int,
    ) -> Launch:
        """Return the kernel, which stores the value of its last instruction; its first axes are those of the result."""
        store = Store(access=len(self.reads), of=len(self.lines) - 1)
        where = over(identity(shape), tuple(range(len(shape))), extents)
        return Launch(
            device,
            extents,
            len(shape),
            (*self.lines, store),
            tuple(self.reads),
            ((where, dtype),),
            REASON,
            (*self.inside, *asked),
            lanes,
        )


def _elementwise(kernel: _Kernel, step: Step, blocks: Blocks, shape: tuple[int, ...], dtype: str) -> tuple[int, ...]:
    taken = tuple(kernel.operand(number, block.node, _map(block.view)) for number, block in enumerate(blocks))
    if step.op == "cast":
        kernel.add(Cast(of=taken[0], dtype=dtype))
    else:
        kernel.add(Alu(op=str(step.attrs["op"]), of=taken))  # type: ignore[arg-type]  # a word of it, by ``nodes``
    return shape


def _fold(kernel: _Kernel, step: Step, blocks: Blocks, shape: tuple[int, ...], dtype: str) -> tuple[int, ...]:
    axes: Sequence[int] = tuple(sorted(step.attrs["axes"]))  # type: ignore[arg-type]  # numbers, by ``nodes``
    view = blocks[0].view.last(axes)
    inner = tuple(range(len(shape), len(view.shape)))
    at = kernel.operand(0, blocks[0].node, _map(view))
    _summed(kernel, step, at, str(step.attrs["op"]), inner, dtype)
    return view.shape


def _dot(kernel: _Kernel, step: Step, blocks: Blocks, shape: tuple[int, ...], dtype: str) -> tuple[int, ...]:
    left, right = (block.view for block in blocks)
    rows, columns = len(left.shape) - 1, len(right.shape) - 1
    extents = (*shape, left.shape[-1])
    maps = (
        affine(extents, (*left.strides[:-1], *(0,) * columns, left.strides[-1]), left.offset),
        affine(extents, (*(0,) * rows, *right.strides[1:], right.strides[0]), right.offset),
    )
    acc = str(step.attrs.get("acc") or dtype)
    # What is taken several times is not computed as often.
    kernel.alone = [False, False]
    sides = []
    for number, (block, at) in enumerate(zip(blocks, maps, strict=True)):
        loaded = kernel.operand(number, block.node, at)
        sides.append(loaded if acc == dtype else kernel.add(Cast(of=loaded, dtype=acc)))
    made = kernel.add(Alu(op="mul", of=tuple(sides)))
    if extents[-1] > 1:
        made = kernel.add(Reduce(op="add", of=made, axes=(len(shape),)))
    if acc != dtype:
        kernel.add(Cast(of=made, dtype=dtype))
    return extents


def _summed(kernel: _Kernel, step: Step, at: int, op: str, axes: tuple[int, ...], dtype: str) -> None:
    """Fold a value, in the dtype that the step accumulates in."""
    acc = str(step.attrs.get("acc") or dtype)
    if acc != dtype:
        at = kernel.add(Cast(of=at, dtype=acc))
    if axes:
        at = kernel.add(Reduce(op=op, of=at, axes=axes))  # type: ignore[arg-type]  # a word of it, by ``nodes``
    if acc != dtype:
        kernel.add(Cast(of=at, dtype=dtype))


def _filled(step: Step, device: int, dtype: str, shape: tuple[int, ...]) -> Node:
    """Return what comes of operands without elements: nothing, or what a fold gives of no element."""
    op = "add" if step.op == "dot" else str(step.attrs.get("op", ""))
    if not math.prod(shape):
        return Fill(device, dtype, 0, 0)
    acc = str(step.attrs.get("acc") or dtype)
    bits = of_nothing(acc, FOLDS.get(op, op)).to_bytes(NUMPY[acc].itemsize, "little")
    if acc != dtype:
        known = converted(Values().const(bits, acc, (), device), dtype)
        # What is left to a kernel elsewhere, for another may be as right, is an infinity here.
        bits = np.frombuffer(bits, NUMPY[acc]).astype(NUMPY[dtype]).tobytes() if known is None else known
    return Fill(device, dtype, math.prod(shape), int.from_bytes(bits, "little"))


def _map(view: View) -> Affine:
    return affine(view.shape, view.strides, view.offset)
