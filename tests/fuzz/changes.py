"""Changes of a valid document: of its tree, value by value, and of its bytes."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from hypothesis import strategies as st

DEEP: Final = "nested-{}-deep"
"""Stands for so many lists in each other, which Python's own encoder cannot write."""

TWICE: Final = "twice "
"""Begins a key that is to be written once more without it."""

NUMBERS: Final = (
    *(0, 1, -1, 2, 63, 64, 255, 256, 1023, 1025, 2**16, 2**26, 2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63, 2**64),
    *(-(2**31), -(2**63), -(2**64), 10**30, 10**300, 10**4000, 0.5, -0.0, 1e-320, 1e308, -1e308),
    *(float("nan"), float("inf"), True, False),
)
TEXTS: Final = (
    *("", " ", "\0", "a\0b", "\ud800", "\udfff\ud800", "\ufeff", "a" * 300, "é" * 300, "x" * 70_000),
    *("\n", "a\nb", "\x1b[2J", "../up", "/etc/passwd", "..", "a/b", "C:\\x", "-", "--help", "nan", "1" * 5000),
    *("n" + "+n" * 99, "n*" * 99 + "n", "'''", '"""', "`", "<script>alert(1)</script>", "{{ 7 }}", "$(id)", "%s%n"),
    *("${x}", "]]>", "&amp;", "|", "\u202e", "exec:false", "os:system", "(a+)+$", "(" * 500, "a{99999999999}", "["),
    *("2027-01-31", "9999-99-99", "https://", "float32", "bool", "bfloat16", "complex128", "sum", "x", "y", "i", "d0"),
)
OTHERS: Final = (
    *(None, [], {}, [[]], [{}], {"": None}, [None] * 70),
    *(DEEP.format(depth) for depth in (70, 700, 90_000)),
)
VALUES: Final = (*NUMBERS, *TEXTS, *OTHERS)

TREE: Final = (
    *("alike", "alike", "near", "near", "exchange", "exchange"),
    *("drop", "value", "twice", "swap", "kind", "many", "rename", "again"),
)
"""The first ones leave the kind of a value as it is, so that what reads it comes further."""
BYTES: Final = ("cut", "flip", "put", "repeat", "zero")
PLACES: Final = st.integers(0, 1 << 20)

Change = tuple[str, int, int]
"""What is done, where, and with what."""

tree_changes: Final = st.lists(st.tuples(st.sampled_from(TREE), PLACES, PLACES), min_size=1, max_size=3)
byte_changes: Final = st.lists(st.tuples(st.sampled_from(BYTES), PLACES, PLACES), min_size=1, max_size=3)

Path = tuple[Any, ...]


def changed_tree(tree: Any, changes: list[Change]) -> Any:
    """Return a copy of a tree of plain data with some changes; it may be of any form then."""
    tree = copy.deepcopy(tree)
    for change, where, what in changes:
        paths = list(_paths(tree))
        if paths:
            _change(tree, change, paths[where % len(paths)], paths[what % len(paths)], what)
    return tree


def _paths(tree: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the way to everything in a tree, from the root."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from _paths(value, (*path, key))


def _change(tree: Any, change: str, path: Path, other: Path, what: int) -> None:
    *way, key = path
    holder = _at(tree, tuple(way))
    value = holder[key]
    if change == "drop":
        del holder[key]
    elif change == "value":
        holder[key] = copy.deepcopy(VALUES[what % len(VALUES)])
    elif change == "alike":
        holder[key] = _of_its_kind(value, what)
    elif change == "exchange":
        _exchange(tree, path, what)
    elif change == "swap":
        holder[key] = copy.deepcopy(_at(tree, other))
    elif change == "kind":
        holder[key] = _of_another_kind(value, what)
    elif change == "near":
        holder[key] = _near(value, what)
    elif change == "many" and isinstance(value, list | dict):
        holder[key] = _many(value, what)
    elif change in ("twice", "rename", "again"):
        _doubled(holder, change, key, what)


def _doubled(holder: Any, change: str, key: Any, what: int) -> None:
    """Put a value into its list or object once more, or give its key another name."""
    if isinstance(holder, list):
        holder.insert(what % (len(holder) + 1), copy.deepcopy(holder[key]))
    elif change == "twice":
        holder[TWICE + str(key)] = copy.deepcopy(holder[key])
    elif change == "again":
        holder[TEXTS[what % len(TEXTS)]] = copy.deepcopy(holder[key])
    else:
        holder[TEXTS[what % len(TEXTS)]] = holder.pop(key)


def _at(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def _of_its_kind(value: Any, what: int) -> Any:
    alike = [each for each in VALUES if type(each) is type(value)]
    return copy.deepcopy(alike[what % len(alike)]) if alike else value


def _exchange(tree: Any, path: Path, what: int) -> None:
    """Put another value of the same kind, from elsewhere in the tree, in the place of one."""
    *way, key = path
    holder = _at(tree, tuple(way))
    alike = [each for each in _paths(tree) if type(_at(tree, each)) is type(holder[key])]
    holder[key] = copy.deepcopy(_at(tree, alike[what % len(alike)]))


def _of_another_kind(value: Any, what: int) -> Any:
    kinds = ([value], {"": value}, json.dumps(str(value))[:99], None, 7, 0.5, True)
    if isinstance(value, dict) and what % 2:
        return list(map(list, value.items()))
    if isinstance(value, list) and what % 2:
        return {str(at): each for at, each in enumerate(value)}
    return kinds[what % len(kinds)]


def _near(value: Any, what: int) -> Any:
    """Return a value that is not far from another one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return (value + 1, value - 1, -value, value * 2, value * 1000, value + 0.5)[what % 6]
    if isinstance(value, str):
        at = what % (len(value) + 1)
        put = TEXTS[what % len(TEXTS)][:9]
        return (value[:at] + put + value[at:], value[:at], value[at:], value.upper(), value * 2)[what % 5]
    if isinstance(value, list):
        return (value[::-1], value[: len(value) // 2], value * 2)[what % 3]
    return value


def _many(value: Any, what: int) -> Any:
    count = (3, 70, 1100)[what % 3]
    if isinstance(value, list):
        return value * min(count, 20_000 // max(1, len(value)))
    return {f"{key}{n}": each for n in range(min(count, 20_000 // max(1, len(value)))) for key, each in value.items()}


_NESTED: Final = re.compile(rf'"{DEEP.format("([0-9]+)")}"')
_TWICE: Final = re.compile(rf'"{TWICE}')


def written(tree: Any) -> bytes:
    """Return a tree as JSON, or what is nearly JSON: some trees cannot be written otherwise."""
    text = _TWICE.sub('"', json.dumps(tree))
    return _NESTED.sub(lambda found: "[" * int(found[1]) + "]" * int(found[1]), text).encode()


def changed_bytes(content: bytes, changes: list[Change]) -> bytes:
    """Return bytes with some changes."""
    for change, where, what in changes:
        at = where % (len(content) + 1)
        if change == "cut":
            content = content[:at]
        elif change == "flip" and content:
            at %= len(content)
            content = content[:at] + bytes([content[at] ^ (1 << what % 8)]) + content[at + 1 :]
        elif change == "put":
            content = content[:at] + bytes([what % 256]) * (1 + what % 9) + content[at:]
        elif change == "repeat":
            content = content[:at] + content[at : at + what % 4096] * 2 + content[at:]
        elif change == "zero":
            content = content[:at] + bytes(min(what % 4096, len(content) - at)) + content[at + what % 4096 :]
    return content
