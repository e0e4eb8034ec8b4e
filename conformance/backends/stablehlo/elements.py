"""The element types of StableHLO, and the way of every bit into a module and out of it.

Constants of some element types cannot be read back by NumPy, and complex ones end the process. So blocks go in and come
out as integers without a sign, of which StableHLO itself makes the element type and back: by ``bitcast_convert`` where
the widths are the same, by ``convert`` where a byte holds fewer bits, and of parts where a number is complex.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array

ELEMENTS: Final = {
    "bool": "i1", "int4": "i4", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint4": "ui4", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
    "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2", "bfloat16": "bf16", "float16": "f16", "float32": "f32",
    "float64": "f64", "complex64": "complex<f32>", "complex128": "complex<f64>",
    "float8_e3m4": "f8E3M4", "float8_e4m3": "f8E4M3", "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e5m2fnuz": "f8E5M2FNUZ",
}  # fmt: skip


@dataclass(frozen=True)
class SsaValue:
    """A value of a process by its name, with its dtype and shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def type(self) -> str:
        """Return its type as StableHLO writes it."""
        return tensor_type(ELEMENTS[self.dtype], self.shape)


def tensor_type(element: str, shape: tuple[int, ...]) -> str:
    """Return a tensor's type as StableHLO writes it."""
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


def carriers(dtype: str) -> tuple[str, ...]:
    """Return the integer types that carry one element: a signless one as wide, or one for each of two parts."""
    width = NUMPY[dtype].itemsize * 8
    return (f"i{width // 2}",) * 2 if dtype.startswith("complex") else (f"i{width}",)


def carried(block: Array, dtype: str) -> list[Array]:
    """Return the integers that carry a block, in row-major order."""
    whole = np.array(block, order="C")
    if dtype.startswith("complex"):
        return [np.array(part, order="C").view(f"i{part.itemsize}") for part in (whole.real, whole.imag)]
    return [whole.astype(np.int8) if _narrow(dtype) else whole.view(f"i{whole.itemsize}")]


def uncarried(parts: list[Array], dtype: str, shape: tuple[int, ...]) -> Array:
    """Return the block that some integers carry."""
    whole = NUMPY[dtype]
    if len(parts) == 1:
        (bits,) = parts
        return (bits.astype(whole) if _narrow(dtype) else bits.view(whole)).reshape(shape)
    found = np.empty(shape, whole)
    found.real, found.imag = (bits.view(f"f{bits.itemsize}").reshape(shape) for bits in parts)
    return found


def unpacked(parts: tuple[str, ...], value: SsaValue) -> Iterator[str]:
    """Yield the operations that make ``value`` of the integers that carry it, whose names are ``parts``."""
    (carrier, *_), element, shape = carriers(value.dtype), ELEMENTS[value.dtype], value.shape
    if len(parts) == 2:
        half = "f32" if value.dtype == "complex64" else "f64"
        for part in parts:
            yield _unary("bitcast_convert", part, f"{part}_f", carrier, half, shape)
        of = tensor_type(half, shape)
        sources = ", ".join(f"{part}_f" for part in parts)
        yield f'{value.name} = "stablehlo.complex"({sources}) : ({of}, {of}) -> {value.type}'
    elif value.dtype == "uint4":
        yield _unary("bitcast_convert", parts[0], f"{parts[0]}_u", carrier, "ui8", shape)
        yield _unary("convert", f"{parts[0]}_u", value.name, "ui8", element, shape)
    else:
        word = "convert" if _narrow(value.dtype) else "bitcast_convert"
        yield _unary(word, parts[0], value.name, carrier, element, shape)


def packed(value: SsaValue, parts: tuple[str, ...]) -> Iterator[str]:
    """Yield the operations that make of ``value`` the integers that carry it, under the names ``parts``."""
    (carrier, *_), element, shape = carriers(value.dtype), ELEMENTS[value.dtype], value.shape
    if len(parts) == 2:
        half = "f32" if value.dtype == "complex64" else "f64"
        for word, part in zip(("real", "imag"), parts, strict=True):
            yield _unary(word, value.name, f"{part}_f", element, half, shape)
            yield _unary("bitcast_convert", f"{part}_f", part, half, carrier, shape)
    elif value.dtype == "uint4":
        yield _unary("convert", value.name, f"{parts[0]}_u", element, "ui8", shape)
        yield _unary("bitcast_convert", f"{parts[0]}_u", parts[0], "ui8", carrier, shape)
    else:
        word = "convert" if _narrow(value.dtype) else "bitcast_convert"
        yield _unary(word, value.name, parts[0], element, carrier, shape)


def _narrow(dtype: str) -> bool:
    """Return whether a byte holds an element of fewer bits."""
    return dtype in ("bool", "int4", "uint4")


def _unary(word: str, operand: str, result: str, before: str, after: str, shape: tuple[int, ...]) -> str:
    types = tensor_type(before, shape), tensor_type(after, shape)
    return f'{result} = "stablehlo.{word}"({operand}) : ({types[0]}) -> {types[1]}'
