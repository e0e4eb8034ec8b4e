"""Ring and tree, written out step by step, equal the fold on order-free data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from conformance.cases.tensor.dtypes import Array
from conformance.generate.calls.draft import tiled
from conformance.generate.calls.values import pool
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.reductions import BITWISE, REDUCTIONS


def ring_chunks(size: int, world: int) -> list[tuple[int, int]]:
    """Chunk ``size`` elements by the rule of tinygrad.multi: equal multiples of the largest factor, the rest first."""
    factor = math.gcd(size, 32)
    base, left = divmod(size // factor, world)
    sizes = [(base + 1) * factor] * left + [base * factor] * (world - left)
    ends = np.cumsum(sizes).tolist()
    return [(end - size, end) for size, end in zip(sizes, ends, strict=True) if size > 0]


def ring(blocks: list[Array], op: str) -> list[Array]:
    world, out = len(blocks), [block.reshape(-1).copy() for block in blocks]
    chunks = ring_chunks(out[0].size, world)
    for step in range(world - 1):
        for i, (start, end) in enumerate(chunks):
            source, target = (i + step) % world, (i + step + 1) % world
            out[target][start:end] = REDUCTIONS[op](out[target][start:end], out[source][start:end])
    for step in range(world - 1):
        for i, (start, end) in enumerate(chunks):
            out[(i + step) % world][start:end] = out[(i + step - 1) % world][start:end]
    return [result.reshape(blocks[0].shape) for result in out]


def tree(blocks: list[Array], op: str) -> list[Array]:
    parts = list(blocks)
    while len(parts) > 1:
        parts = [REDUCTIONS[op](*parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return [parts[0].copy() for _ in blocks]


@pytest.mark.parametrize("algorithm", [ring, tree])
@pytest.mark.parametrize("op", ["sum", "product", "max", "min", "and", "or", "xor"])
@pytest.mark.parametrize("world", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("shape", [(), (7,), (4, 32), (33,), (0, 3)])
def test_an_algorithm_gives_the_bits_of_the_fold(
    algorithm: Callable[..., Any], op: str, world: int, shape: tuple[int, ...]
) -> None:
    for dtype in ("int32", "uint8") if op in BITWISE else ("int32", "bfloat16", "float32", "float8_e5m2"):
        blocks = tiled(pool(dtype, op), shape, world)
        expected = all_reduce(blocks, op=op, groups=(tuple(range(world)),))
        assert [block.tobytes() for block in algorithm(blocks, op)] == [block.tobytes() for block in expected]


def test_ring_chunks_follow_the_rule_of_the_source() -> None:
    assert ring_chunks(96, 2) == [(0, 64), (64, 96)]
    assert ring_chunks(7, 3) == [(0, 3), (3, 5), (5, 7)]
    assert ring_chunks(2, 4) == [(0, 2)]
