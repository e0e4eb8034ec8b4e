"""Inductor's index expressions, evaluated at all points at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, Final

import numpy as np
import sympy

from conformance.backends.base import Unsupported
from conformance.cases.tensor.dtypes import Array


def worth(expression: Any, at: Mapping[str, Array]) -> Any:
    """Return an expression as an integer or as an array over the points; ``at`` has what its symbols are there."""
    expression = sympy.sympify(expression)
    if expression.is_Integer:
        return int(expression)
    name = expression.name if isinstance(expression, sympy.Symbol) else type(expression).__name__
    if isinstance(expression, sympy.Symbol) and name in at:
        return at[name]
    if name not in _OPERATIONS:
        raise Unsupported(f"an index with {name}")
    return _OPERATIONS[name](*(worth(each, at) for each in expression.args))


_OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    "Add": lambda *of: reduce(np.add, of),
    "Mul": lambda *of: reduce(np.multiply, of),
    "FloorDiv": lambda left, right: left // right,
    "CleanDiv": lambda left, right: left // right,
    "ModularIndexing": lambda left, step, extent: left // step % extent,
    "Mod": lambda left, right: left % right,
    "PythonMod": lambda left, right: left % right,
    "Identity": lambda value: value,
}
"""Sympy's classes, and those that Torch adds, by name."""
