"""How the time of a run is shared out."""

from __future__ import annotations

import pytest

from conformance.runner.budget import Budget
from conformance.runner.plan import PROFILES, Plan


class Clock:
    """Time that stands still until somebody moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def budget(*, fails: bool = False, spent: float = 0.0, **plan: object) -> Budget:
    clock = Clock()
    made = Budget(Plan(ops=("barrier",), examples=300, decked=True, **plan), lambda: fails, clock)  # type: ignore[arg-type]
    clock.now += spent
    return made


@pytest.mark.parametrize(("spent", "over"), [(89.0, False), (91.0, True)])
def test_draws_behind_the_deck_end_after_the_seconds_of_the_profile_and_the_deck_does_not(
    spent: float, over: bool
) -> None:
    made = budget(spent=spent)
    assert (made.over(), made.enough(), made.late()) == (over, False, False)


@pytest.mark.parametrize("profile", ["default", "deck", "quick", "nightly"])
def test_a_named_time_budget_ends_everything_whatever_the_profile(profile: str) -> None:
    made = budget(profile=profile, time_budget=10.0, spent=11.0)
    assert (made.late(), made.enough(), made.search()()) == (True, True, True)
    assert made.over() == (PROFILES[profile].seconds is not None)


def test_once_anything_failed_a_quarter_is_kept_for_smaller_cases() -> None:
    assert budget(fails=True, spent=68.0).over()
    assert not budget(fails=False, spent=68.0).over()
    assert budget(fails=True, spent=80.0, time_budget=100.0).enough()


@pytest.mark.parametrize("spent", [5.0, 45.0, 67.5, 300.0])
def test_the_search_has_at_least_a_quarter_of_the_run_and_at_most_half(spent: float) -> None:
    seconds = budget(spent=spent).searches_for
    assert seconds is not None
    assert seconds >= 0.25 * max(90.0, spent + seconds) - 1e-9
    assert seconds <= 0.5 * max(90.0, spent + seconds) + 1e-9


def test_of_a_named_budget_it_takes_half_at_most() -> None:
    assert budget(spent=10.0, time_budget=600.0).searches_for == 300.0
    assert budget(spent=500.0, time_budget=600.0).searches_for == 100.0


@pytest.mark.parametrize("plan", [{"profile": "nightly"}, {"decked": False}])
def test_where_draws_are_counted_it_takes_as_long_as_it_takes(plan: dict[str, object]) -> None:
    made = Budget(Plan(ops=("barrier",), examples=300, **{"decked": True, **plan}))  # type: ignore[arg-type]
    assert made.searches_for is None
    assert not made.search()()


def test_several_backends_share_what_is_left_of_the_search() -> None:
    made = budget(spent=50.0, profile="deck")
    first = made.search(0.5)
    assert isinstance(made.clock, Clock)
    made.clock.now += 22.0
    assert first()
    assert not made.search(1.0)()


@pytest.mark.parametrize(
    ("spent", "done", "part"), [(45.0, 1.0, 0.5), (45.0, 0.25, 0.25), (9.0, 0.5, 0.1), (200.0, 1.0, 1.0)]
)
def test_how_far_a_run_is_takes_the_deck_and_the_time_into_account(spent: float, done: float, part: float) -> None:
    assert budget(spent=spent).explored(done) == pytest.approx(part)
