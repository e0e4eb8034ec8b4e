"""The buffers of a compiled graph in the neutral form: where XLA's buffer assignment puts each value."""

from __future__ import annotations

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Allocation, Assignment, Instruction, Shape, Slot, Where
from conformance.cases.graph.buffer import Buffer
from conformance.cases.tensor.dtypes import NUMPY


class Storage:
    """Names for what values lie in: a parameter's by its graph, the others by allocation, place and dtype."""

    def __init__(self, assignment: Assignment, parameters: dict[int, Buffer], device: str) -> None:
        """Begin with the buffers that parameters are."""
        self._assignment, self._parameters, self._device = assignment, parameters, device
        self._made: dict[str, Buffer] = {each.id: each for each in parameters.values()}

    def slot(self, where: Where) -> Slot:
        """Return where a value lies; raise ``Unsupported`` where nothing says so."""
        if where not in self._assignment.slots:
            raise Unsupported("a value of which the buffer assignment does not say where it lies")
        return self._assignment.slots[where]

    def allocation(self, where: Where) -> Allocation:
        """Return the allocation that a value lies in."""
        return self._assignment.allocations[self.slot(where).index]

    def buffer(self, where: Where, shape: Shape) -> tuple[str, str]:
        """Return the name and the dtype of the buffer that a value lies in."""
        slot, allocation = self.slot(where), self.allocation(where)
        if shape.dtype not in NUMPY:
            raise Unsupported(f"a value of the primitive type {shape.dtype}")
        fills = (slot.offset, slot.size) == (0, allocation.size) and not _inside(allocation)
        root = self._root(allocation, shape.dtype if fills else "uint8")
        whole = (slot.offset, slot.size) == (0, self._made[root].size) and not _inside(allocation)
        if whole and self._made[root].dtype == shape.dtype:
            return root, shape.dtype
        name = f"{root}[{slot.offset}:{slot.offset + slot.size}] {shape.dtype}"
        self._made.setdefault(
            name,
            Buffer(
                id=name, size=slot.size, dtype=shape.dtype, device=self._device, base=root, offset=slot.offset,
                planned=_inside(allocation),
            ),
        )  # fmt: skip
        return name, shape.dtype

    def declared(self) -> tuple[Buffer, ...]:
        """Return all buffers that were named."""
        return tuple(self._made.values())

    def _root(self, allocation: Allocation, dtype: str) -> str:
        """Return the buffer of an allocation: what is computed on the way may lie in a part of a result's, too."""
        if allocation.parameter is not None:
            if allocation.parameter not in self._parameters:
                raise Unsupported("a value in the memory of a variable")
            return self._parameters[allocation.parameter].id
        name = f"{'result' if allocation.result else 'arena'} {allocation.index}"
        self._made.setdefault(
            name,
            Buffer(id=name, size=allocation.size, dtype=dtype, device=self._device, output=allocation.result),
        )
        return name


def _inside(allocation: Allocation) -> bool:
    """Return whether an allocation is an arena of values that nobody outside sees."""
    return not allocation.result and allocation.parameter is None


def defined(node: Instruction) -> list[tuple[Where, Shape]]:
    """Return what an instruction gives: a value, or the parts of a tuple."""
    parts = node.shape.parts
    return (
        [((node.id, (number,)), part) for number, part in enumerate(parts)] if parts else [((node.id, ()), node.shape)]
    )
