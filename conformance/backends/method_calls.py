"""How a method of a backend is called, and what it returns read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np


def called(method: Callable[..., Any], operands: list[Any], target: Any, keywords: dict[str, Any]) -> Any:
    """Return what a method returns, or the target where that is nothing."""
    if target is None:
        return method(*operands, **keywords)
    result = method(*operands, **keywords, out=target)
    return target if result is None else result


def blocks_of(given: Any) -> list[Any]:
    """Return the blocks of a result as arrays in native byte order: the next step's method is promised such."""
    return [None if block is None else _native(np.asarray(block)) for block in given]


def _native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def operand_count(method: Callable[..., Any]) -> int:
    """Return how many operands a method takes: all that are not by keyword and have no default."""
    known = inspect.signature(method).parameters.values()
    return sum(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in known)
