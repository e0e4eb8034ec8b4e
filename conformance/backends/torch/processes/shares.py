"""What a case says of its groups of ranks, and the state in which it leaves them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final

from conformance.backends.torch.operation import POINT_TO_POINT, idle
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.program.program import rank_groups

GLOO_TIMEOUT: Final = 0.95
"""Seconds Gloo waits for a peer: eight times the slowest case that worked on two cores of its own (0.12 s, 36 ranks at
once), four times that on two with three times as much to do (0.24 s). For slower machines see ``doubtful``. Some of
Gloo's waits take whole seconds and one more, which is 1 for this."""


def groups_of(case: Case) -> set[tuple[int, ...]]:
    """Return every group of ranks the case speaks of; none for a program whose axes make no sense."""
    program = case.program
    with contextlib.suppress(ValueError):
        steps = [step for step in program.steps if not idle(step)]
        return {group for step in steps for group in rank_groups(program.mesh, step.axes, step.groups)}
    return set()


def doubtful(arrivals: Sequence[float], answers: Sequence[Observation]) -> bool:
    """Return whether a timeout of Gloo may be the machine's fault.

    It is not when some ranks answered promptly and all others waited in vain themselves: one that got no time to run
    would have begun late, or have found what it waited for. ``arrivals`` are the times of the answers, in seconds.
    """
    waited = [answer.seconds > GLOO_TIMEOUT / 2 for answer in answers]
    late = [at > min(arrivals) + GLOO_TIMEOUT / 2 for at in arrivals]
    ranks = zip(waited, late, answers, strict=True)
    vain = all((long and answer.raised) or not (long or behind) for long, behind, answer in ranks)
    return any(waited) and (all(waited) or not vain)


def aligned(case: Case, answers: Sequence[Observation]) -> bool:
    """Return whether the ranks, all of which answered a case in which some raised, can go on together.

    They can where all raised alike in the one collective of the case and none waited for another: nothing was begun
    that others may meet. Where only some raised, or messages are sent, the next case might be given what is this one's.
    """
    if case.troubled or max(answer.seconds for answer in answers) > GLOO_TIMEOUT / 2:
        return False
    collectives = case.program.collectives
    kinds = {answer.errors[0].kind if answer.errors and answer.errors[0] else None for answer in answers}
    return len(collectives) == len(kinds) == 1 and collectives[0].op not in POINT_TO_POINT
