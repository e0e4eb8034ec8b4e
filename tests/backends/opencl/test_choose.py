"""Which algorithm runs: below, at and above every threshold."""

from __future__ import annotations

import pytest

from conformance.backends.opencl.lower.choose import choose
from conformance.backends.opencl.settings import Settings, from_environment

RING = Settings(ring_from=100, ring_members=3)


@pytest.mark.parametrize(
    ("elements", "members", "chosen"), [(99, 3, "direct"), (100, 3, "ring"), (101, 3, "ring"), (100, 2, "direct")]
)
def test_the_ring_starts_at_its_thresholds(elements: int, members: int, chosen: str) -> None:
    assert choose("all_reduce", elements, members, RING) == chosen
    assert choose("reduce_scatter", elements, members, RING) == chosen
    assert choose("all_to_all", elements, members, RING) == "direct"


def test_a_forced_algorithm_is_taken_wherever_it_applies() -> None:
    assert choose("all_gather", 1, 1, Settings(force="ring")) == "ring"
    assert choose("permute", 1, 1, Settings(force="ring")) == "naive"
    assert choose("permute", 1, 8, Settings(force="direct")) == "direct"


def test_the_environment_chooses_and_a_wrong_word_says_which_are_right() -> None:
    assert from_environment({"CONFORMANCE_OPENCL_ALGORITHM": "naive"}).force == "naive"
    assert from_environment({}) == Settings()
    with pytest.raises(ValueError, match="'rign'; known are naive, ring, direct"):
        from_environment({"CONFORMANCE_OPENCL_ALGORITHM": "rign"})
    with pytest.raises(ValueError, match="known are basic, pthread"):
        from_environment({"CONFORMANCE_OPENCL_DEVICES": "gpu"})
    with pytest.raises(ValueError, match="ring_from must be at least 1, got 0"):
        Settings(ring_from=0)
