"""Blocks as MPI sees them: an address, a count and a datatype."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from mpi4py import MPI

from conformance.backends.base import Unsupported
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.layout import CANARY

Message = tuple[Any, int, MPI.Datatype]

ELEMENTS: Final = {
    NUMPY["bool"]: MPI.C_BOOL,
    NUMPY["int8"]: MPI.INT8_T,
    NUMPY["int16"]: MPI.INT16_T,
    NUMPY["int32"]: MPI.INT32_T,
    NUMPY["int64"]: MPI.INT64_T,
    NUMPY["uint8"]: MPI.UINT8_T,
    NUMPY["uint16"]: MPI.UINT16_T,
    NUMPY["uint32"]: MPI.UINT32_T,
    NUMPY["uint64"]: MPI.UINT64_T,
    NUMPY["float16"]: MPI.FLOAT16_T,
    NUMPY["float32"]: MPI.FLOAT,
    NUMPY["float64"]: MPI.DOUBLE,
    NUMPY["complex64"]: MPI.C_FLOAT_COMPLEX,
    NUMPY["complex128"]: MPI.C_DOUBLE_COMPLEX,
}

PAIRS: Final = {
    NUMPY["int16"]: MPI.SHORT_INT,
    NUMPY["int32"]: MPI.INT_INT,
    NUMPY["int64"]: MPI.LONG_INT,
    NUMPY["float32"]: MPI.FLOAT_INT,
    NUMPY["float64"]: MPI.DOUBLE_INT,
}


class Datatypes:
    """The derived datatypes of one call, freed when the block ends; what is under way then keeps its own."""

    def __init__(self) -> None:
        """Start with none."""
        self._made: list[MPI.Datatype] = []

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free every datatype made."""
        for made in self._made:
            made.Free()

    def __call__(self, *views: Array) -> Message:
        """Describe ``views`` of one shape that lie equally far from one another, as many as the call has members.

        The count is what goes to or comes from one member.
        """
        first = views[0]
        if adjacent(views):
            element = self._element(first.dtype)
            return _memory(first, sum(view.nbytes for view in views)), first.size, element
        distance = _address(views[1]) - _address(first) if len(views) > 1 else None
        # Absolute addresses, because strides may lead before the first element.
        return MPI.BOTTOM, 1, self._strided(_address(first), first.shape, first.strides, first.dtype, distance)

    def rows(self, block: Array) -> tuple[Any, MPI.Datatype]:
        """Return where the rows of ``block`` are, and the datatype of one, whose extent leads to the next."""
        if block.flags.c_contiguous:
            row = self._element(block.dtype).Create_contiguous(int(np.prod(block.shape[1:])))
            return _memory(block, block.nbytes), self._keep(row.Commit())
        shape, strides = block.shape[1:], block.strides[1:]
        return MPI.BOTTOM, self._strided(_address(block), shape, strides, block.dtype, block.strides[0])

    def _strided(
        self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any], extent: int | None
    ) -> MPI.Datatype:
        """Return the datatype of elements ``strides`` apart from ``address`` on; ``extent`` leads to the next."""
        made = self._element(dtype)
        for count, stride in zip(reversed(shape), reversed(strides), strict=True):
            made = self._keep(made.Create_hvector(count, 1, stride))
        made = self._keep(made.Create_hindexed([1], [address]))
        return (made if extent is None else self._keep(made.Create_resized(address, extent))).Commit()

    def _element(self, dtype: np.dtype[Any]) -> MPI.Datatype:
        if dtype in ELEMENTS:
            return ELEMENTS[dtype]
        return self._keep(MPI.BYTE.Create_contiguous(dtype.itemsize).Commit())

    def _keep(self, made: MPI.Datatype) -> MPI.Datatype:
        self._made.append(made)
        return made


def elements(block: Array) -> Message:
    """Describe a block for a predefined operation; raise ``Unsupported`` unless it is contiguous."""
    if not block.flags.c_contiguous:
        raise Unsupported("predefined operations take elements that lie one behind the other")
    return _memory(block, block.nbytes), block.size, ELEMENTS[block.dtype]


def pairs(block: Array, position: int) -> tuple[Array, MPI.Datatype]:
    """Return every element beside ``position``, and the datatype of such a pair."""
    pair = np.dtype([("value", block.dtype), ("position", np.intc)], align=True)
    made = np.zeros(block.shape, pair)
    made["value"], made["position"] = block, position
    return made, PAIRS[block.dtype]


def unwritten(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Return fresh memory for a result, in which an element that nobody writes shows and is the same every time."""
    return np.full(int(np.prod(shape)) * dtype.itemsize, CANARY, np.uint8).view(dtype).reshape(shape)


def one_place(operand: Array, target: Array | None) -> bool:
    """Return whether the target is the operand, element for element."""
    if target is None or (_address(operand), operand.shape) != (_address(target), target.shape):
        return False
    strides = zip(operand.shape, operand.strides, target.strides, strict=True)
    return all(extent < 2 or one == other for extent, one, other in strides)


def adjacent(views: Sequence[Array]) -> bool:
    """Return whether the elements of ``views`` lie one behind the other; no elements do, wherever they are."""
    at = _address(views[0])
    if not views[0].size:
        return True
    return all(v.flags.c_contiguous and _address(v) == at + i * v.nbytes for i, v in enumerate(views))


def _memory(view: Array, size: int) -> Any:
    # Not the array itself, whose buffer interface does not know the dtypes of extensions of NumPy.
    return MPI.buffer.fromaddress(_address(view), size)


def _address(view: Array) -> int:
    return int(view.__array_interface__["data"][0])
