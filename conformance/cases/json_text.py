"""JSON that people read and diff: short things stay on one line."""

from __future__ import annotations

import json
from typing import Any, Final

WIDTH: Final = 120


def pretty(value: Any) -> str:
    """Return plain dicts, lists and scalars as JSON text that ends in a newline."""
    return _lines(value, 0) + "\n"


def _lines(value: Any, indent: int) -> str:
    flat = json.dumps(value, allow_nan=False)
    if not isinstance(value, dict | list | tuple) or not value or indent + len(flat) <= WIDTH:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        items = [f"{inner}{json.dumps(key)}: {_lines(item, indent + 2)}" for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        items = [inner + _lines(item, indent + 2) for item in value]
        opening, closing = "[", "]"
    return opening + "\n" + ",\n".join(items) + "\n" + " " * indent + closing
