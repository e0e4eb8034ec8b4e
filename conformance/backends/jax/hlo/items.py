"""The entry computation of a module as kernels, in the order in which XLA runs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.body import Source, Translation, place
from conformance.backends.jax.hlo.module import Computation, Instruction, Module, Shape, Where, literal
from conformance.backends.jax.hlo.storage import Storage, defined
from conformance.cases.schedule.kernel_body import Body
from conformance.cases.schedule.schedule import Access, Binding, Kernel
from conformance.cases.tensor.dtypes import Array

NOTHING: Final = ("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all")
"""Instructions that run nothing: what they give is there, or a name of it."""

CONTROL: Final = ("while", "conditional", "custom-call", "sort", "infeed", "outfeed", "send", "recv", "all-reduce")
"""Instructions that are no kernel, or of which the computations that they call run more than one."""


class Items:
    """The items of a module, whose parameters of some numbers are ``variables`` with their values."""

    def __init__(self, module: Module, storage: Storage, variables: dict[int, Binding], device: str) -> None:
        """Say what is read from where."""
        self._module, self._storage = module, storage
        self._variables, self._device = variables, device

    def made(self) -> Iterator[Kernel]:
        """Yield the items in order; raise ``Unsupported`` for what the neutral form has no words for."""
        for node in self._module.sequence:
            if node.opcode in CONTROL:
                raise Unsupported(f"{node.opcode}, which is no single kernel")
            nothing = node.opcode in NOTHING or not any(shape.count for _, shape in defined(node))
            if not nothing and not self._in_place(node):
                yield self._kernel(node)

    def where(self, node: Instruction, part: tuple[int, ...] = ()) -> Where:
        """Return what defines the value that an instruction of the entry computation gives, or hands on."""
        of = [self._module.entry.instructions[each] for each in node.operands]
        if node.opcode == "bitcast":
            return self.where(of[0], part)
        if node.opcode == "tuple" and part:
            return self.where(of[part[0]], part[1:])
        if node.opcode == "get-tuple-element":
            return self.where(of[0], (node.message.number(13), *part))
        return node.id, part

    def _in_place(self, node: Instruction) -> bool:
        """Return whether a copy leaves everything where it is, as XLA's runtime then does nothing."""
        if node.opcode != "copy":
            return False
        source = self._module.entry.instructions[node.operands[0]]
        if self._constant(source) is not None or self._variable(source) is not None:
            return False
        there = self.where(source)
        same = self._storage.slot(there) == self._storage.slot((node.id, ()))
        return same and source.shape.order == node.shape.order

    def _kernel(self, node: Instruction) -> Kernel:
        operands = [self._module.entry.instructions[each] for each in node.operands]
        sources = [self._source(each) for each in operands]
        accesses: list[Access] = []
        bodies: tuple[Body, ...] = ()
        try:
            bodies = tuple(self._bodies(node, sources, accesses))
        except Unsupported:
            if any(each.variable for each in sources):
                raise
            read = dict.fromkeys(each.buffer for each in sources if each.buffer)
            written = dict.fromkeys(self._storage.buffer(*each)[0] for each in defined(node))
            accesses = [Access(buffer=name) for name in read] + [Access(buffer=name, write=True) for name in written]
        bound = {each.variable for each in sources if each.variable}
        return Kernel(
            id=node.name,
            device=self._device,
            accesses=tuple(accesses),
            bodies=bodies,
            variables=tuple(each for each in self._variables.values() if each.name in bound),
        )

    def _source(self, node: Instruction) -> Source:
        constant, variable = self._constant(node), self._variable(node)
        if constant is not None or variable is not None:
            return Source(node.shape, constant=constant, variable=variable.name if variable else "")
        if node.shape.parts:
            raise Unsupported("a tuple as an operand")
        at = self.where(node)
        buffer, dtype = self._storage.buffer(at, self._shape(at))
        return Source(node.shape, buffer, dtype)

    def _shape(self, at: Where) -> Shape:
        node, part = self._module.entry.instructions[at[0]], at[1]
        return node.shape.parts[part[0]] if part else node.shape

    def _constant(self, node: Instruction) -> Array | None:
        while node.opcode == "bitcast" and node.shape.count == 1:
            node = self._module.entry.instructions[node.operands[0]]
        return literal(node) if node.opcode == "constant" else None

    def _variable(self, node: Instruction) -> Binding | None:
        return self._variables.get(node.parameter) if node.opcode == "parameter" else None

    def _bodies(self, node: Instruction, sources: list[Source], accesses: list[Access]) -> Iterator[Body]:
        if node.opcode in ("fusion", "call"):
            computation = self._module.computations[node.called[0]]
            by_id = {
                each.id: sources[each.parameter]
                for each in computation.instructions.values()
                if each.opcode == "parameter"
            }
        else:
            own = [self._module.entry.instructions[each] for each in node.operands]
            computation = Computation({each.id: each for each in (*own, node)}, node)
            by_id = dict(zip(node.operands, sources, strict=True))
        translation = Translation(self._module, computation, by_id, accesses)
        root = computation.root
        roots = [computation.instructions[each] for each in root.operands] if root.opcode == "tuple" else [root]
        for each, (where, shape) in zip(roots, defined(node), strict=True):
            target, _ = self._storage.buffer(where, shape)
            if each.opcode in ("scatter", "dynamic-update-slice"):
                yield from self._updated(each, computation, by_id, translation, target, where)
            else:
                yield translation.stored(each, target)

    def _updated(
        self,
        node: Instruction,
        computation: Computation,
        sources: dict[int, Source],
        translation: Translation,
        target: str,
        where: Where,
    ) -> Iterator[Body]:
        """Yield what writes a part of a value: first the rest of it, unless it lies there, and then the part."""
        of = [computation.instructions[each] for each in node.operands]
        begins = [_known(each, sources) for each in of[1:2] if node.opcode == "scatter"] or [
            _known(each, sources) for each in of[2:]
        ]
        update = of[2] if node.opcode == "scatter" else of[1]
        if any(each is None for each in begins):
            raise Unsupported("a place that data choose")
        known = [each for each in begins if each is not None]
        if node.opcode == "scatter" and not self._replaces(node):
            raise Unsupported("a scatter that computes")
        at = scattered(node, update, known[0]) if node.opcode == "scatter" else _at(node, update, known)
        old = sources.get(of[0].id)
        lies_there = old is not None and old.buffer == target
        if not lies_there:
            yield translation.stored(of[0], target)
        if update.shape.count:
            yield translation.stored_at(update, at, target, phase=0 if lies_there else 1)

    def _replaces(self, node: Instruction) -> bool:
        root = self._module.computations[node.called[0]].root
        return (root.opcode, root.parameter) == ("parameter", 1)


def _known(node: Instruction, sources: dict[int, Source]) -> Array | None:
    if node.id in sources:
        return sources[node.id].constant
    return literal(node) if node.opcode == "constant" else None


def _at(node: Instruction, update: Instruction, begins: list[Array]) -> Array:
    """Return where each element of a slice goes, moved so that all of it is inside."""
    shape, count = node.shape, update.shape.extents
    first = [
        int(np.clip(int(begin), 0, extent - n)) for begin, extent, n in zip(begins, shape.extents, count, strict=True)
    ]
    index = np.indices(count, np.int64)
    return np.broadcast_to(place(shape, tuple(b + i for b, i in zip(first, index, strict=True))), count)


def scattered(node: Instruction, update: Instruction, indices: Array) -> Array:
    """Return where each element of an update goes; raise ``Unsupported`` unless each is inside, and nowhere else."""
    numbers = node.message.message(48)
    window, inserted, to = (numbers.numbers(field) for field in (1, 2, 3))
    axis = numbers.number(4)
    if numbers.numbers(5):
        raise Unsupported("a scatter in batches")
    index = np.indices(update.shape.extents, np.int64)
    vectors = np.expand_dims(indices, axis) if axis == indices.ndim else indices
    vectors = np.moveaxis(vectors, axis, -1)
    batch = tuple(index[a] for a in range(len(index)) if a not in window)
    start = vectors[batch] if batch else vectors.reshape(-1)
    at = [np.zeros(update.shape.extents, np.int64) for _ in node.shape.extents]
    inside = iter(window)
    for operand_axis in range(len(at)):
        if operand_axis not in inserted:
            at[operand_axis] = at[operand_axis] + index[next(inside)]
    for number, operand_axis in enumerate(to):
        at[operand_axis] = at[operand_axis] + start[..., number].astype(np.int64)
    if any((each < 0).any() or (each >= extent).any() for each, extent in zip(at, node.shape.extents, strict=True)):
        raise Unsupported("a scatter beyond its target")
    found = np.broadcast_to(place(node.shape, tuple(at)), update.shape.extents)
    if len(np.unique(found)) != found.size:
        raise Unsupported("a scatter of several elements to one place")
    return found
