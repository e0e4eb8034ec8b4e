"""What must come when a schedule is asked for."""

from __future__ import annotations

from typing import Final

from conformance.judging.schedules.clause import AnswerClause

ANSWERED: Final = AnswerClause(
    "answer.C1",
    "An implementation that schedules programs gives a schedule of every program that its claims "
    "do not leave out, and of every graph that it has words for; of these it raises no error, "
    "and it neither hangs nor ends its process.",
    "ours",
)

ANSWERED_AGAIN: Final = AnswerClause(
    "answer.C2",
    "An implementation gives a schedule also when it is asked again: in another process, for fewer results or for "
    "the same results in another order, with other values for its variables, and, where it offers that, without a "
    "memory plan or after a run.",
    "ours",
)

ANSWERS: Final = (ANSWERED, ANSWERED_AGAIN)
