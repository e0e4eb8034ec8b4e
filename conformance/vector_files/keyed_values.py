"""Which values of graphs and of sharded programs are right, and which of typed programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.judging.keyed_values import KeyedSubject
from conformance.reference.graph.evaluate import BoundedValue
from conformance.reference.graph.rounding import BESIDE, LOOSE, UNKNOWN
from conformance.reference.graph.slack import radius
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.types.values import visible
from conformance.vector_files.rules import ADVISED, BETWEEN, BITS, EQUAL, WITHIN, RightBlock, parts, uniform

_STEPS = 4
"""Numbers beside an end that are tried: the end is a difference that was rounded once."""


def keyed_results(subject: KeyedSubject[object]) -> dict[str, list[RightBlock | None]]:
    """Return which value of each key is right, as the one block of a list."""
    if subject.undefined:
        return {key: [uniform(each.array, ADVISED)] for key, each in subject.expected.items()}
    return {key: [_worth(each)] for key, each in subject.expected.items()}


def typed_results(meaning: TypedMeaning) -> dict[str, list[RightBlock | None]]:
    """Return which blocks are right of results, of ``d`` inputs (cotangents), and of ``t`` results (tangents)."""
    program = meaning.case.program
    if meaning.case.batch:
        return _equal(meaning.values)
    shown = {
        name: visible(program, meaning.types[name], blocks)
        for name, blocks in meaning.values.items()
        if name in program.results
    }
    pushed = {
        f"t {name}": visible(program, meaning.types[name], blocks)
        for name, blocks in meaning.pushed.items()
        if name in program.results
    }
    return _equal({**shown, **{f"d {name}": blocks for name, blocks in meaning.back.items()}, **pushed})


def _equal(blocks: Mapping[str, Sequence[Array]]) -> dict[str, list[RightBlock | None]]:
    return {name: [uniform(np.asarray(block), EQUAL) for block in several] for name, several in blocks.items()}


def _worth(meant: BoundedValue) -> RightBlock:
    array, mask = np.asarray(meant.array), np.broadcast_to(meant.slack.mask, meant.array.shape)
    family = kind(logical(array.dtype))
    floats = family in ("float", "complex")
    rules = np.full(array.shape, BITS, np.uint8)
    if floats:
        rules[(mask & np.uint16(LOOSE)) > 0] = EQUAL
    unknown = (mask & np.uint16(UNKNOWN)) > 0
    beside = (mask & np.uint16(BESIDE)) > 0
    rules[unknown | beside] = ADVISED
    if not (unknown & ~beside).any() or not floats:
        return RightBlock(array, _a_part(rules, array))
    reach = radius(meant.slack, array)
    bounded = unknown & ~beside & np.isfinite(reach)
    rules[bounded] = WITHIN if family == "complex" else BETWEEN
    if not bounded.any():
        return RightBlock(array, _a_part(rules, array))
    if family == "complex":
        return RightBlock(array, _a_part(rules, array), radius=np.where(bounded, reach, 0.0).reshape(-1))
    low, high = _ends(array.astype(np.float64), np.where(bounded, reach, 0.0))
    if meant.slack.ends is not None:
        least, most = meant.slack.ends()
        low, high = np.fmax(low, least), np.fmin(high, most)
    low, high = (np.where(bounded, end, np.nan).reshape(-1) for end in (low, high))
    return RightBlock(array, _a_part(rules, array), low=low, high=high)


def _ends(made: Array, reach: Array) -> tuple[Array, Array]:
    """Return the least and the greatest number whose difference from ``made``, rounded, is no more than ``reach``."""
    found = []
    with np.errstate(all="ignore"):
        for side in (-1.0, 1.0):
            end = made + side * reach
            for _ in range(_STEPS):
                beyond = np.nextafter(end, side * np.inf)
                end = np.where(np.abs(beyond - made) <= reach, beyond, end)
            for _ in range(_STEPS):
                end = np.where(np.abs(end - made) <= reach, end, np.nextafter(end, made))
            found.append(end)
    return found[0], found[1]


def _a_part(rules: Array, array: Array) -> Array:
    return np.repeat(rules.reshape(-1), parts(array).size // array.size if array.size else 1)
