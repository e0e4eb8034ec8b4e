"""Random numbers as a source of cases (pass 1), and Hypothesis as a shrinker of one failure (pass 2)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeVar
from unittest import SkipTest

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from conformance.specs.domains.choices import Choice, Draw
from conformance.specs.domains.steering.chained import chain_goals
from conformance.specs.domains.steering.claims import Claimed, listed, narrowed
from conformance.specs.domains.steering.goals import goals_of
from conformance.specs.domains.steering.seldom_draws import seldom_goal

T = TypeVar("T")

SHRINK_CALLS: Final = 200
"""New cases that shrinking one failure may ask a backend for."""

SHRINK_CALLS_SLOW: Final = 20
"""The same where every answer costs a worker, or ranks: crashes, timeouts, broken protocol and trouble among ranks."""

OUTSIDE: Final = 10
"""Of so many draws for one backend one is not held to its claims."""

LONGEST: Final = 20
"""Times as many draws as asked for, at most, for the sake of distinct cases: barrier, which has only meshes and
groups to draw, came to 1,000 distinct cases after some 4,000 draws."""


@dataclass
class Numbers:
    """Random numbers, and a record of them: each with its bound."""

    random: Random | None
    taken: list[tuple[int, int]] = field(default_factory=list)

    def below(self, bound: int, wanted: Sequence[int] = ()) -> int:
        """Return a random number from 0 up to ``bound``, one of ``wanted`` if any are; 0 without a generator."""
        if bound < 2:
            return 0
        number = int(self.random.random() * (len(wanted) or bound)) if self.random else 0
        number = wanted[number] if wanted else number
        self.taken.append((number, bound))
        return number


@dataclass(frozen=True)
class _Shrinkable:
    """Numbers that Hypothesis draws, and makes smaller."""

    draw: st.DrawFn

    def below(self, bound: int, wanted: Sequence[int] = ()) -> int:
        del wanted
        return self.draw(st.integers(0, bound - 1)) if bound > 1 else 0


@st.composite
def strategy(draw: st.DrawFn, domain: Choice[T], goals: Mapping[str, str] | None = None) -> T:
    """Return a domain as a strategy of Hypothesis; ``goals`` decide how many numbers are drawn, and none of them."""
    return Draw(_Shrinkable(draw), goals or {})(domain)


def numbered(domain: Choice[T], seed: int, number: int, limits: Claimed | None = None) -> tuple[T, Numbers]:
    """Return one draw of a domain, the same for the same seed and number, and the numbers it is made of.

    Draw 0 is the plainest of all. With ``limits`` it lies within these claims, as far as goals are granted; every
    tenth does not, so that it is seen where claims are too small.
    """
    # Not for secrets: the same seed must give the same cases.
    name = f"{domain.name}, {seed}, {number}"
    numbers = Numbers(Random(name) if number else None)  # noqa: S311 - they choose cases, and are no secret
    wanted = (chain_goals(domain.name, seed, number) or goals_of(domain.name, seed, number)) if number else {}
    if limits and number % OUTSIDE:
        wanted = {**narrowed(wanted, limits, f"{domain.name}, {seed}", number), **listed(limits)}
    return Draw(numbers, {**wanted, **seldom_goal(number)})(domain), numbers


def _chain(domain: Choice[T], seed: int, number: int) -> Mapping[str, str]:
    """Return the goals of a graph: its kind, and how long it is, which say how many numbers make its draw."""
    return {**chain_goals(domain.name, seed, number), **seldom_goal(number)} if number else {}


def draw_cases(
    domain: Choice[T],
    examples: int,
    seed: int,
    sink: Callable[[T], object],
) -> None:
    """Hand ``sink`` the cases of a domain: the same for the same seed, repeats included."""
    for number in range(examples):
        case, _ = numbered(domain, seed, number)
        sink(case)


class _StillFails(Exception):
    """The case at hand fails in the way being shrunk."""


def shrink(
    domain: Choice[T],
    seed: int,
    number: int,
    fails: Callable[[T], bool],
    calls: int,
    name_of: Callable[[T], str],
    limits: Claimed | None = None,
) -> T:
    """Return the smallest case that ``fails``, from draw ``number`` on, which fails and has these ``limits``.

    ``fails`` is asked for at most ``calls`` distinct cases; later ones count as not failing. The same draw shrinks in
    the same way each time, under every profile of Hypothesis.
    """
    best, numbers = numbered(domain, seed, number, limits)
    known = {name_of(best): True}

    @settings(
        max_examples=calls,
        phases=(Phase.reuse, Phase.shrink),
        database=InMemoryExampleDatabase(),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    # The seed takes the database away, so the settings come after it.
    @hypothesis.seed(number)
    @given(strategy(domain, _chain(domain, seed, number)))
    def again(case: T) -> None:
        nonlocal best
        name = name_of(case)
        if name not in known:
            known[name] = len(known) <= calls and fails(case)
        if known[name]:
            best = case
            raise _StillFails

    with warnings.catch_warnings():
        # Hypothesis warns that a long case has a long repr, which nobody sees.
        warnings.simplefilter("ignore", hypothesis.errors.HypothesisWarning)
        for attempt in (lambda: again.hypothesis.fuzz_one_input(as_bytes(numbers)), again):  # type: ignore[attr-defined]
            try:
                attempt()
            except (_StillFails, hypothesis.errors.HypothesisException, SkipTest):
                # Where the numbers make another case that does not fail, there is nothing to begin with.
                continue
    return best


def as_bytes(numbers: Numbers) -> bytes:
    """Return the bytes that Hypothesis's ``fuzz_one_input`` reads these numbers from."""
    sizes = (((bound - 1).bit_length() + 7) // 8 for _, bound in numbers.taken)
    return b"".join(number.to_bytes(size, "big") for (number, _), size in zip(numbers.taken, sizes, strict=True))
