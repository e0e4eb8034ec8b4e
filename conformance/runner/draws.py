"""Hypothesis as a source of cases (pass 1) and as a shrinker of one failure (pass 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from conformance.cases.case import Case, case_id
from conformance.specs.op import Op

PART: Final = 10
"""Examples of one Hypothesis run. After its first ten valid examples Hypothesis follows each by about five mutations of
it, so that 300 in one run were some 60 independent ones: of the 140 clauses of 19 operations the rarest, over three
seeds, spoke in 0 cases of 300 in parts of 15, and in 4 in parts of 10, for 4 % fewer distinct cases."""

SHRINK_CALLS: Final = 200
"""New cases that shrinking one failure may ask a backend for."""

SHRINK_CALLS_SLOW: Final = 20
"""The same where every answer costs a worker: crashes, timeouts and broken protocol."""


def draw_cases(op: Op, examples: int, seed: int, sink: Callable[[Case], None]) -> None:
    """Hand ``sink`` the cases of one operation: the same for the same seed and examples, repeats included."""
    _in_parts(op, sink, examples, seed, Phase.generate)


class _StillFails(Exception):
    """The case at hand fails in the way being shrunk."""


def shrink(op: Op, examples: int, seed: int, start: str, fails: Callable[[Case], bool], calls: int) -> Case | None:
    """Draw again until the case with id ``start``, and return the smallest case that ``fails`` from there.

    ``fails`` is asked for at most ``calls`` distinct cases; later ones count as not failing. Return
    ``None`` when ``start`` does not come again.
    """
    known: dict[str, bool] = {}
    best: Case | None = None

    def body(case: Case) -> None:
        nonlocal best
        name = case_id(case)
        if best is None and name != start:
            return
        if name not in known:
            known[name] = name == start or (len(known) <= calls and fails(case))
        if known[name]:
            best = case
            raise _StillFails

    try:
        _in_parts(op, body, examples, seed, Phase.generate, Phase.shrink)
    except (_StillFails, hypothesis.errors.HypothesisException):
        return best
    return None


def _in_parts(op: Op, body: Callable[[Case], None], examples: int, seed: int, *phases: Phase) -> None:
    """Hand ``body`` the same examples for the same arguments, whatever the phases, until it raises."""
    for first in range(0, examples, PART):

        @hypothesis.seed(f"{seed}, {first}")
        @_settings(min(PART, examples - first), *phases)
        @given(op.domain)
        def part(case: Case) -> None:
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
