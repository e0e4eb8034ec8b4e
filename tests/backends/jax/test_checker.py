"""The checker of types says of drawn programs what JAX says, but for the classes that are listed."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.backends.jax import Jax
from conformance.qualification.typed_verdicts import SEVERAL, Verdicts, compare
from conformance.specs.types.jax_rules import DIFFERENCES


def shares(jax: Jax, start: int, stop: int) -> None:
    found = compare(jax.types, start, stop)
    assert found.judged > (stop - start) * 3 // 4
    assert found.alike + sum(found.classes.values()) >= 0.98 * found.judged, str(found)
    assert len(DIFFERENCES) <= 10


def test_the_checker_agrees_with_jax_on_some_programs(jax: Jax) -> None:
    shares(jax, 0, 60)


def test_only_a_prescribed_difference_is_left_out_of_the_second_share() -> None:
    found = Verdicts(judged=10, alike=6, classes=Counter({"extremes of groups": 2, "means": 1, SEVERAL: 1}))
    assert found.prescribed == 2
    assert (found.share, found.share_of_others) == (0.6, 0.75)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 5000, 1000))
def test_the_checker_agrees_with_jax(jax: Jax, start: int) -> None:
    shares(jax, start, start + 1000)
