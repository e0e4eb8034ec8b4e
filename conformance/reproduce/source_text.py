"""What a script may have of a case: constants, and text that says something and is never executed.

Every value that a script takes from a case, a verdict or a backend goes through one of these functions. Whatever its
text is, the script has one constant of it; the identifiers of a script are its own (``conformance.reproduce.identifiers``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

from conformance.cases.escapes import printable


class AttributeNameError(ValueError):
    """An attribute that the operation does not have; its name is no identifier of ours."""


def literal(value: object) -> str:
    """Return the expression of a constant, in ASCII.

    It may be ``None``, a bool, a number, text, bytes, and a tuple, list, set or mapping of such. Raise ``TypeError`` for
    anything else: what it prints as may be a call.
    """
    return _expression(value, None)


def constructed(value: object, name_of: Callable[[type], str]) -> str:
    """Return the expression of a constant in which structures are calls of their classes, as ``name_of`` names these."""
    return _expression(value, name_of)


def text_literal(text: str) -> str:
    """Return text of several lines as one constant in brackets, a line each."""
    lines = text.splitlines(keepends=True)
    return "\n".join(["(", *(f"    {literal(line)}" for line in lines), ")"]) if len(lines) > 1 else literal(text)


def docstring(lines: Iterable[str]) -> str:
    """Return lines as a docstring. Each stays one line, and what is no character to look at is an escape in it."""
    text = "\n".join(printable(line).replace("\\", "\\\\").replace('"""', r"\"\"\"") for line in lines)
    return f'"""{text}\n"""\n'


def keywords(attributes: Mapping[str, object], known: Iterable[str]) -> list[str]:
    """Return attributes as keyword arguments; raise ``AttributeNameError`` for one whose name is not ``known``."""
    names = frozenset(known)
    for name in attributes:
        if name not in names:
            raise AttributeNameError(f"no attribute {name!r} here; known are {', '.join(sorted(names)) or 'none'}")
    return [f"{name}={literal(value)}" for name, value in attributes.items()]


def _expression(value: object, name_of: Callable[[type], str] | None) -> str:
    kind = type(value)
    if kind is float and not math.isfinite(value):  # type: ignore[arg-type]  # a float
        return f'float("{value}")'
    if value is None or kind in (bool, int, float, str, bytes):
        return ascii(value)
    if kind in (tuple, list):
        return _sequence([_expression(each, name_of) for each in _items(value)], is_tuple=kind is tuple)
    if kind in (set, frozenset):
        inside = sorted(_expression(each, name_of) for each in _items(value))
        made = f"{{{', '.join(inside)}}}" if inside else ""
        return f"frozenset({made})" if kind is frozenset or not inside else made
    if isinstance(value, Mapping):
        pairs = (f"{_expression(key, name_of)}: {_expression(each, name_of)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if name_of is not None and (isinstance(value, msgspec.Struct) or is_dataclass(value)):
        of = value.__struct_fields__ if isinstance(value, msgspec.Struct) else [each.name for each in fields(value)]
        given = ", ".join(f"{name}={_expression(getattr(value, name), name_of)}" for name in of)
        return f"{name_of(kind)}({given})"
    raise TypeError(f"a script has no constant for a {kind.__name__}")


def _items(value: Any) -> Iterable[Any]:
    items: Iterable[Any] = value
    return items


def _sequence(parts: list[str], *, is_tuple: bool) -> str:
    inside = ", ".join(parts)
    if not is_tuple:
        return f"[{inside}]"
    return f"({inside},)" if len(parts) == 1 else f"({inside})"
