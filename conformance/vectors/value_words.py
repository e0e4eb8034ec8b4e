"""Which special values meet in an operation of a graph: many mistakes show in one pair of them alone."""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Mapping, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from conformance.cases.graph.case import GraphCase, asked_key
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.graph.evaluate import run

MOST_ELEMENTS: Final = 128
"""Elements of a value that are looked at, from its first on."""

MANY: Final = 400
"""Nodes from which values are not looked at: 410 nodes take the reference half a second."""

WORDS: Final = (
    "other",
    "zero",
    "-zero",
    "one",
    "-one",
    "greatest",
    "least",
    "tiny",
    "inf",
    "-inf",
    "nan",
    "true",
    "upper",
)


def node_values(case: GraphCase) -> Mapping[str, Array]:
    """Return what each node of a legal case is worth: a computed one as it was listed, storage at the end."""
    nodes = tuple(node.id for node in case.graph.nodes)
    if len(nodes) > MANY:
        return {}
    last = replace(case.rounds[-1], asked=nodes)
    known = tuple(dict.fromkeys([name for each in case.rounds[:-1] for name in each.asked] + list(nodes)))
    whole = replace(case, graph=replace(case.graph, results=known), rounds=(*case.rounds[:-1], last))
    try:
        made = run(whole).results
    except ValueError:  # not all can be asked for, as results of calls alone cannot
        return {}
    number = len(case.rounds) - 1
    return {name: made[asked_key(number, name)].array for name in nodes if asked_key(number, name) in made}


def value_words(operands: Sequence[Array], made: Array | None) -> set[str]:
    """Return the kinds of values of one operand, or the pairs of kinds that meet in two, and those of what is made."""
    found = set[str]()
    kinds = [_kinds(operand.reshape(-1)[:MOST_ELEMENTS]) for operand in operands]
    if len(kinds) == 2 and len(kinds[0]) == len(kinds[1]):
        pairs = np.unique(kinds[0].astype(np.int64) * len(WORDS) + kinds[1])
        found |= {f"values {WORDS[pair // len(WORDS)]}, {WORDS[pair % len(WORDS)]}" for pair in pairs}
    elif kinds:
        found |= {f"value {WORDS[word]}" for word in np.unique(kinds[0])}
    if made is not None:
        found |= {f"gives {WORDS[word]}" for word in np.unique(_kinds(made.reshape(-1)[:MOST_ELEMENTS]))}
    return found


def conversion_word(source: Array, made: Array) -> str:
    """Return what a conversion goes from and to, and whether some finite number of it is rounded on the way."""
    given, got = (_numbers(each.reshape(-1)[:MOST_ELEMENTS]) for each in (source, made))
    rounded = any(one != other and isfinite(one) and isfinite(other) for one, other in zip(given, got, strict=True))
    how = "rounds" if rounded else "converts"
    return f"{how} {kind(logical(source.dtype))} to {logical(made.dtype)}"


def _numbers(flat: Array) -> list[Any]:
    """Return the elements as numbers of Python, which compare exactly."""
    if kind(logical(flat.dtype)) == "float":
        flat = flat.astype(np.float64)
    elif flat.dtype.kind == "V":  # integers of 4 bits
        flat = flat.astype(np.int64)
    return list(flat.tolist())


def _kinds(flat: Array) -> NDArray[np.int8]:
    """Return the number of the word of each element, the last one that fits."""
    family = kind(logical(flat.dtype))
    found = np.zeros(len(flat), np.int8)
    if family == "bool":
        return np.where(flat, WORDS.index("true"), WORDS.index("zero")).astype(np.int8)
    if family == "complex":
        flat = flat.real
    with np.errstate(all="ignore"):
        found[flat == 0] = WORDS.index("zero")
        found[flat == 1] = WORDS.index("one")
        if family == "integer":
            info = ml_dtypes.iinfo(flat.dtype)
            tests = {
                "upper": flat > int(info.max) // 2 if info.min == 0 else None,
                "-one": flat == -1 if info.min < 0 else None,
                "greatest": flat == info.max,
                "least": flat == info.min,
            }
        else:
            limits = ml_dtypes.finfo(flat.dtype)
            wide = flat.astype(np.float64)
            size = np.abs(wide)
            tests = {
                "-zero": (wide == 0) & np.signbit(wide),
                "-one": wide == -1,
                "greatest": wide >= float(limits.max),
                "least": wide <= -float(limits.max),
                "tiny": (size > 0) & (size < float(limits.smallest_normal)),
                "inf": np.isposinf(wide),
                "-inf": np.isneginf(wide),
                "nan": np.isnan(wide),
            }
    for word, where in tests.items():
        if where is not None:
            found[np.asarray(where, bool)] = WORDS.index(word)
    if family == "integer" and info.min == 0:
        found[np.asarray(flat == 0, bool)] = WORDS.index("zero")
    return found
