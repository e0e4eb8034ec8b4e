"""The algorithms of all_reduce: choice, chunks, order and copies, as the source has them."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.reference.sharded.all_reduce import chosen, chunks, copies, folded, order


def test_a_ring_is_for_more_than_two_devices_and_many_elements() -> None:
    assert [chosen(n, e) for n, e in ((2, 10**6), (3, 256_000), (3, 256_001))] == ["naive", "naive", "ring"]
    assert (chosen(2, 1, ring=2), chosen(4, 10**6, ring=0), chosen(4, 1, 1, 2)) == ("ring", "naive", "all_to_all")


def test_chunks_are_multiples_of_a_factor_and_empty_ones_are_left_out() -> None:
    assert chunks(16, 4) == ((0, 16),)
    assert chunks(128, 4) == ((0, 32), (32, 64), (64, 96), (96, 128))
    assert chunks(10, 4) == ((0, 4), (4, 6), (6, 8), (8, 10))
    assert chunks(0, 4) == ()
    assert (copies("ring", 16, 4), copies("ring", 128, 4), copies("naive", 16, 4)) == (6, 24, 12)


def test_a_ring_folds_from_its_own_device_on() -> None:
    assert order("ring", 2, 4) == (2, 3, 0, 1)
    parts = [np.full(128, value, np.float32) for value in (1e8, 1.0, -1e8, 3.0)]
    left, ring = folded("add", parts, "naive"), folded("add", parts, "ring")
    assert (left[0], ring[0], ring[32], ring[64]) == (3.0, 3.0, 0.0, 1.0)


@pytest.mark.parametrize("algorithm", ["naive", "ring", "all_to_all"])
@pytest.mark.parametrize("op", ["add", "max", "mul"])
def test_all_algorithms_agree_where_no_order_shows(algorithm: str, op: str) -> None:
    parts = [np.arange(70, dtype=np.int32).reshape(7, 10) + device for device in range(5)]
    assert (folded(op, parts, algorithm) == folded(op, parts, "naive")).all()  # type: ignore[arg-type]
    assert folded(op, [part[:0] for part in parts], algorithm).shape == (0, 10)  # type: ignore[arg-type]
