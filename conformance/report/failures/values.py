"""Array elements as people read them: a decimal that names the element, and the bits where none would."""

from __future__ import annotations

from typing import Final

import numpy as np

from conformance.cases.tensor.dtypes import Array

SHOWN: Final = 64
"""Elements written out; a minimal case rarely has more, and a reader follows no more."""

_QUIET_NAN: Final = {2: 0x7FC0, 4: 0x7FC00000, 8: 0x7FF8000000000000}
"""The NaN everybody writes, by bytes an element."""


def written(array: Array) -> str:
    """Return ``array`` as nested lists, or its first elements and how many more there are."""
    if array.size > SHOWN:
        flat = array.reshape(-1)
        first = ", ".join(_element(flat[index, ...]) for index in range(SHOWN))
        return f"{first}, … {array.size - SHOWN} more"
    return _nested(array)


def _nested(array: Array) -> str:
    if array.ndim == 0:
        return _element(array)
    return f"[{', '.join(_nested(array[index, ...]) for index in range(len(array)))}]"


def _element(array: Array) -> str:
    """Return the element of an array without axes: a NumPy scalar has already lost the byte of a strange bool."""
    if array.dtype == np.bool_:
        byte = array.tobytes()[0]
        return ("false", "true")[byte] if byte in (0, 1) else f"bool(0x{byte:02x})"
    if array.dtype.kind in "iu":
        return str(int(array))
    with np.errstate(invalid="ignore"):
        nan = bool(np.isnan(array))
    if nan and array.dtype.kind == "c":
        real, imaginary = (_element(array.real), _element(array.imag))
        return f"({real}{'' if imaginary.startswith('-') else '+'}{imaginary}j)"
    if nan:
        bits = int.from_bytes(array.tobytes(), "little")
        return "nan" if bits == _QUIET_NAN.get(array.dtype.itemsize) else f"nan(0x{bits:x})"
    # NumPy prints a decimal that only this element of its type has; a trailing ".0" is noise in a list of numbers.
    return str(array[()]).removesuffix(".0")
