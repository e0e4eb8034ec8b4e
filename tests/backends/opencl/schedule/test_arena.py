"""Where values lie in arenas, by its laws: whatever the lives are."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.backends.opencl.schedule.arena import Life, laid

LIVES = st.lists(
    st.builds(lambda size, first, long: Life(size, first, first + long), st.integers(1, 40), *[st.integers(0, 9)] * 2),
    max_size=24,
)


@pytest.mark.parametrize("most", [1, 48, 10**6])
@pytest.mark.parametrize("alignment", [1, 8])
@example(lives=[Life(1, 1, 2), Life(2, 2, 2), Life(17, 1, 1), Life(33, 0, 0)])
@given(lives=LIVES)
def test_values_in_use_at_once_share_no_byte(lives: list[Life], alignment: int, most: int) -> None:
    spots, sizes = laid(lives, alignment, most)
    for (one, spot), (other, at) in itertools.combinations(zip(lives, spots, strict=True), 2):
        if spot.arena == at.arena and one.first <= other.last and other.first <= one.last:
            assert spot.offset + one.size <= at.offset or at.offset + other.size <= spot.offset
    for life, spot in zip(lives, spots, strict=True):
        assert spot.offset % alignment == 0
        assert spot.offset + life.size <= sizes[spot.arena] <= max(most, *(each.size for each in lives))


@pytest.mark.parametrize("alignment", [1, 8])
@given(lives=LIVES)
def test_an_arena_lies_between_the_most_in_use_at_once_and_all_side_by_side(lives: list[Life], alignment: int) -> None:
    _, sizes = laid(lives, alignment, 10**6)
    peak = max((sum(each.size for each in lives if each.first <= now <= each.last) for now in range(20)), default=0)
    assert peak <= sum(sizes) <= sum(-(-each.size // alignment) * alignment for each in lives)


def test_the_smallest_gap_that_holds_a_value_is_taken() -> None:
    lives = [Life(32, 0, 4), Life(8, 1, 9), Life(16, 2, 4), Life(8, 3, 9), Life(16, 5, 6)]
    spots, sizes = laid(lives, 8, 10**6)
    assert (spots[4], sizes) == (spots[2], (64,))


def test_a_long_chain_of_values_needs_two_of_them() -> None:
    spots, sizes = laid([Life(64, each, each + 1) for each in range(20_000)], 64, 10**6)
    assert sizes == (128,)
    assert {spot.offset for spot in spots} == {0, 64}
