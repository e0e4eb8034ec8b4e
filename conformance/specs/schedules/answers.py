"""What must come when a schedule is asked for."""

from __future__ import annotations

from typing import Final

from conformance.judging.schedules.clause import AnswerClause

ANSWERED: Final = AnswerClause(
    "answer.C1",
    "Who schedules programs gives a schedule of each that no claim leaves out, and of graphs of each that it has words "
    "for: nothing else is raised, hangs or ends the process.",
    "ours",
)

ANSWERED_AGAIN: Final = AnswerClause(
    "answer.C2",
    "So it is when the same is asked for again: in another process, for fewer results or the same in another order, "
    "with other values for its variables, or, where that is offered, without a memory plan or once it has been run.",
    "ours",
)

ANSWERS: Final = (ANSWERED, ANSWERED_AGAIN)
