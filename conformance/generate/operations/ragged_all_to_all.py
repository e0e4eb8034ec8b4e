"""How ragged_all_to_all is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.program.features import LONG
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.generate import choices
from conformance.generate.calls.draft import EQUAL, Draft, draft
from conformance.generate.calls.wrong_slices import MISUSE, MISUSES, WRONG_REST
from conformance.reference.situations import MANY, extent_word, rank_word
from conformance.specs.operations.ragged_all_to_all import TABLES

_RESTS: Final = choices.steered([(), (2,), (0,), (2, 1), (5, 7)], ("rank",), lambda rest: (rank_word(1 + len(rest)),))


_UNLIKE: Final = choices.sampled_from([False, False, True])
_TABLE_DTYPES: Final = choices.sampled_from(["int32", "int64", "uint8", "int16", "uint32"])
"""Dtypes of tables: each may have one of its own."""


@cache
def rows_of(width: int, rest: tuple[int, ...], members: int) -> choices.Choice[int]:
    """Return the rows of operands, a few or as many as make them long."""
    each = math.prod(rest)
    found = [4, 2, 6, 4, 2, 6, 1, 17, 20, -(-MANY // max(each, 1)), -(-LONG // (width * max(each, 1)))]
    words = [extent_word(rows * each, width, members) for rows in found]
    # Long ones are made where they are a goal.
    listed = [(rows, word) for rows, word in zip(found, words, strict=True) if word not in ("long", "many")] * 8
    listed += [(rows, word) for rows, word in zip(found, words, strict=True) if word in ("long", "many")][:2]
    return choices.steered(listed, ("extent",), lambda one: (one[1],)).map(lambda one: one[0])


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw slices that fit, overlap, are empty, and now and then do not fit; one or two for every member."""
    drawn: Draft = draft(draw, groups=EQUAL)
    size, each = drawn.member_count, draw(choices.sampled_from([1, 1, 2]))
    rest = draw(_RESTS)
    rows, space = draw(rows_of(drawn.width, rest, size)), draw(choices.sampled_from([6, 3, 4]))
    space = rows if rows not in (4, 2, 6) and draw(choices.booleans()) else space
    length = size * each
    counts = draw(choices.lists(choices.sampled_from([1, 0, 2]), min_size=length * size, max_size=length * size))
    sends = np.minimum(np.array(counts, np.int64), min(rows, space)).reshape(size, length)
    starts = draw(choices.lists(choices.integers(0, 8), min_size=length, max_size=length))
    ats = draw(choices.lists(choices.integers(0, 8), min_size=length * size, max_size=length * size))
    inputs = np.stack([[starts[i] % (rows - int(sends[q][i]) + 1) for i in range(length)] for q in range(size)])
    outputs = np.array(
        [[ats[q * length + i] % (space - int(sends[q][i]) + 1) for i in range(length)] for q in range(size)]
    )
    receives = sends.reshape(size, size, each).transpose(1, 0, 2).reshape(size, length)
    tables: dict[str, Any] = dict(zip(TABLES, (inputs, sends, outputs, receives), strict=True))
    misuse = draw(MISUSE)
    if misuse in MISUSES:
        MISUSES[misuse](draw, tables, (rows, space))
    written, of = (space, *(WRONG_REST[misuse](rest) if misuse in WRONG_REST else rest)), drawn
    if misuse == "other dtype":
        of = replace(drawn, dtype="int16" if drawn.dtype != "int16" else "int32")
    operands = {"operand": drawn.operand((rows, *rest)), "output": of.operand(written, alike=of is drawn)}
    dtypes = {name: draw(_TABLE_DTYPES) for name in TABLES} if draw(_UNLIKE) else dict.fromkeys(TABLES, "int32")
    operands |= {name: _spread(drawn, rows, dtypes[name]) for name, rows in tables.items()}
    return drawn.program("ragged_all_to_all", operands, ("y",), {})


def _spread(drawn: Draft, rows: Sequence[Any], dtype: str) -> Operand:
    """Return one operand that gives every rank the row of its position, in int32 where it does not fit ``dtype``.

    What is no integer stays what it is.
    """
    at = {rank: p for group in drawn.rank_groups() for p, rank in enumerate(group)}
    arrays = [np.asarray(rows[at.get(rank, 0) % len(rows)]) for rank in range(drawn.world)]
    found = np.concatenate([array.reshape(-1) for array in arrays])
    whole = found.dtype.kind in "iu"
    fits = whole and bool((found.astype(dtype) == found).all())
    held = np.dtype(dtype if fits else "int32")
    blocks = tuple(from_array(array.astype(held) if whole else array) for array in arrays)
    plain: Layout = "contiguous"
    return Operand(blocks=blocks, layouts=(plain,) * drawn.world)
