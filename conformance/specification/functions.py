"""Functions of the reference that the functions of operations call, for whoever reads those."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, Final

from conformance.reference.operations import OPERATIONS

REFERENCE: Final = "conformance.reference."


def called() -> dict[str, FunctionType]:
    """Return, by module and name, every function of the reference that an operation calls, itself or by another."""
    found: dict[str, FunctionType] = {}
    waiting: list[Callable[..., Any]] = list(OPERATIONS.values())
    while waiting:
        for function in _calls(waiting.pop()):
            key = f"{function.__module__.removeprefix(REFERENCE)}.{function.__name__}"
            if key not in found and function not in OPERATIONS.values():
                found[key] = function
                waiting.append(function)
    return dict(sorted(found.items()))


def function_lines() -> list[str]:
    """Return the lines of the appendix: each function with its source."""
    lines = []
    for name, function in called().items():
        lines += [f"**`{name}`**", "", "```python", inspect.getsource(function).rstrip(), "```", ""]
    return lines


def _calls(function: Callable[..., Any]) -> Iterator[FunctionType]:
    plain = inspect.unwrap(function)
    if not isinstance(plain, FunctionType):
        return
    for code in (plain.__code__, *(c for c in plain.__code__.co_consts if inspect.iscode(c))):
        for name in code.co_names:
            value = plain.__globals__.get(name)
            value = inspect.unwrap(value) if callable(value) else value
            if isinstance(value, FunctionType) and value.__module__.startswith(REFERENCE):
                yield value
