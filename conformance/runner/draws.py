"""Hypothesis as a source of cases (pass 1) and as a shrinker of one failure (pass 2)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Final, TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from conformance.cases.case import Case, case_id

T = TypeVar("T")

PART: Final = 10
"""Examples of one Hypothesis run. After its first ten valid examples Hypothesis follows each by about five mutations of
it, so that 300 in one run were some 60 independent ones: of the 140 clauses of 19 operations the rarest, over three
seeds, spoke in 0 cases of 300 in parts of 15, and in 4 in parts of 10, for 4 % fewer distinct cases."""

SHRINK_CALLS: Final = 200
"""New cases that shrinking one failure may ask a backend for."""

SHRINK_CALLS_SLOW: Final = 20
"""The same where every answer costs a worker, or ranks: crashes, timeouts, broken protocol and trouble among ranks."""


LONGEST: Final = 20
"""Times as many draws as asked for, at most, for the sake of distinct cases: barrier, which has only meshes and
groups to draw, came to 1,000 distinct cases after some 4,000 draws."""


def draw_cases(
    domain: SearchStrategy[Case],
    examples: int,
    seed: int,
    sink: Callable[[Case], object],
    *,
    distinct: int = 0,
    enough: Callable[[], bool] = lambda: True,
) -> None:
    """Hand ``sink`` the cases of a domain: the same for the same seed and examples, repeats included.

    Go on after ``examples`` draws until there were ``distinct`` different ones and it is ``enough``, within reason.
    """
    seen: set[str] = set()

    def body(case: Case) -> None:
        if distinct:
            seen.add(case_id(case))
        sink(case)

    in_parts(domain, body, examples, seed, Phase.generate, enough=lambda: len(seen) >= distinct and enough())


class _StillFails(Exception):
    """The case at hand fails in the way being shrunk."""


def shrink(
    domain: SearchStrategy[T],
    examples: int,
    seed: int,
    start: str,
    fails: Callable[[T], bool],
    calls: int,
    name_of: Callable[[T], str],
) -> T | None:
    """Draw again until the case with id ``start``, and return the smallest case that ``fails`` from there.

    ``fails`` is asked for at most ``calls`` distinct cases; later ones count as not failing. Return
    ``None`` when ``start`` does not come again.
    """
    known: dict[str, bool] = {}
    best: T | None = None

    def body(case: T) -> None:
        nonlocal best
        name = name_of(case)
        if best is None and name != start:
            return
        if name not in known:
            known[name] = name == start or (len(known) <= calls and fails(case))
        if known[name]:
            best = case
            raise _StillFails

    with warnings.catch_warnings():
        # Hypothesis warns that a long case has a long repr, which nobody sees.
        warnings.simplefilter("ignore", hypothesis.errors.HypothesisWarning)
        try:
            in_parts(domain, body, examples, seed, Phase.generate, Phase.shrink, enough=lambda: best is not None)
        except (_StillFails, hypothesis.errors.HypothesisException):
            return best
    return None


def in_parts(
    domain: SearchStrategy[T],
    body: Callable[[T], None],
    examples: int,
    seed: int,
    *phases: Phase,
    enough: Callable[[], bool],
) -> None:
    """Hand ``body`` the same examples for the same arguments, whatever the phases, until it raises.

    After ``examples`` of them go on until there were ``enough``.
    """
    for first in range(0, examples * LONGEST, PART):
        if first >= examples and enough():
            break

        @hypothesis.seed(f"{seed}, {first}")
        @_settings(PART if first >= examples else min(PART, examples - first), *phases)
        @given(domain)
        def part(case: T) -> None:
            body(case)

        part()


def _settings(examples: int, *phases: Phase) -> settings:
    return settings(
        max_examples=examples,
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
