"""Hypothesis as a shrinker of one failure (pass 2)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from unittest import SkipTest

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
from hypothesis.database import InMemoryExampleDatabase

from conformance.generate.choices import Choice, DealtDraw, Draw
from conformance.generate.claims import Claimed
from conformance.generate.deal import dealt
from conformance.runner.draws import OUTSIDE, Numbers, T, numbered


@dataclass(frozen=True)
class _Shrinkable:
    """Numbers that Hypothesis draws, and makes smaller."""

    draw: st.DrawFn

    def below(self, bound: int, wanted: Sequence[int] = ()) -> int:
        del wanted
        return self.draw(st.integers(0, bound - 1)) if bound > 1 else 0


@st.composite
def strategy(draw: st.DrawFn, domain: Choice[T], dealt: DealtDraw | None = None) -> T:
    """Return a domain as a strategy of Hypothesis, of the kind of cases that is ``dealt``."""
    return Draw(_Shrinkable(draw), dealt=dealt)(domain)


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
    @given(strategy(domain, dealt(seed, number) if number and not (limits and number % OUTSIDE) else None))
    def again(case: T) -> None:
        nonlocal best
        name = name_of(case)
        if name not in known:
            known[name] = len(known) <= calls and fails(case)
        if known[name]:
            best = case
            raise _StillFails

    with warnings.catch_warnings(), _home_of_its_own():
        # Hypothesis warns that a long case has a long repr, which nobody sees.
        warnings.simplefilter("ignore", hypothesis.errors.HypothesisWarning)
        for attempt in (lambda: again.hypothesis.fuzz_one_input(as_bytes(numbers)), again):  # type: ignore[attr-defined]
            try:
                attempt()
            except (_StillFails, hypothesis.errors.HypothesisException, SkipTest):
                # Where the numbers make another case that does not fail, there is nothing to begin with.
                continue
    return best


@contextmanager
def _home_of_its_own() -> Iterator[None]:
    """Let Hypothesis write into a folder that goes afterwards, and not into the one that the user is in."""
    before = storage_directory(intent_to_write=False).home_directory
    with TemporaryDirectory() as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(before)


def as_bytes(numbers: Numbers) -> bytes:
    """Return the bytes that Hypothesis's ``fuzz_one_input`` reads these numbers from."""
    sizes = (((bound - 1).bit_length() + 7) // 8 for _, bound in numbers.taken)
    return b"".join(number.to_bytes(size, "big") for (number, _), size in zip(numbers.taken, sizes, strict=True))
