"""What must come when a schedule is asked for."""

from __future__ import annotations

from typing import Final

from conformance.judging.schedules.clause import AnswerClause

ANSWERED: Final = AnswerClause(
    "answer.C1",
    "An implementation that offers schedules gives one of every program that its claims do not leave out, and of "
    "every graph, unless it refuses that as not supported; of these it raises no other error, and it neither hangs "
    "nor ends its process.",
    "ours",
)

ANSWERED_AGAIN: Final = AnswerClause(
    "answer.C2",
    "An implementation that gave a schedule gives one when asked again: in the same or another process, with an "
    "unneeded node more, for fewer results (of a graph it can refuse that) or reordered ones, with other values of "
    "variables, and, where offered, without memory plan or after a run.",
    "ours",
)

ANSWERS: Final = (ANSWERED, ANSWERED_AGAIN)
