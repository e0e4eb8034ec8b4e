"""The dialogue about a case held with one worker, at once or from answers that are known."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Sequence

from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.judging.verdict import Verdict
from conformance.runner.dialect import Ask, Dialogue, Trial
from conformance.runner.worker.answers import Answer, Broken
from conformance.runner.worker.interface import Judgeable

Told = tuple[Verdict, list[Answer]]
"""A verdict, and the answers that it is on, in order."""


def asked(dialogue: Dialogue, worker: Judgeable) -> Told:
    """Return what came of a dialogue with ``worker``, and with another one of the same backend where it asks for it."""
    answers: list[Answer] = []
    try:
        ask = next(dialogue)
        while True:
            answers.append((worker.sibling() if ask.elsewhere else worker).ask(ask.request))
            ask = dialogue.send(answers[-1])
    except StopIteration as end:
        judged: Verdict = end.value
    return judged, answers


def advanced(dialogue: Dialogue, answer: Answer) -> Ask | Verdict:
    """Return what the dialogue of a drawn case asks next, told an ``answer``; its verdict where it ends.

    Where the suite's own lines raise, there is no verdict on the case, and the others have theirs: ``not_run``.
    """
    try:
        return dialogue.send(answer)
    except StopIteration as end:
        judged: Verdict = end.value
        return judged
    except Exception as error:  # noqa: BLE001 - whatever a mistake of ours raises, the other cases keep their verdicts
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{last.filename.rpartition('/conformance/')[2]}:{last.lineno}"
        said = f"the suite itself raised {type(error).__name__} in {where}: {error}; this is a bug of it, report it"
        return Verdict(outcome="not_run", clauses={}, detail=said)


def unrepeated(dialogue: Dialogue, answers: Sequence[Answer]) -> Verdict:
    """Return what the dialogue would have come to where the first break of a process was all that there is."""
    try:
        next(dialogue)
        for answer in answers:
            dialogue.send(answer.unrepeated or answer)
        while True:
            dialogue.send(Answer(Broken("not_run", "it was not asked")))
    except StopIteration as end:
        judged: Verdict = end.value
    return judged


def alone(
    trials: Iterable[Trial], worker: Judgeable, terms: Terms, late: Callable[[], bool] = lambda: False
) -> list[Told] | None:
    """Return what comes of ``trials``, one after the other in a process of their own.

    They end with the first that broke that process. ``None`` where there is no other process, or it is ``late``.
    """
    other = worker.apart()
    if other is None:
        return None
    found: list[Told] = []
    try:
        for one in trials:
            if late():
                return None
            found.append(asked(one.dialect.dialogue(one.subject, terms), other))
            if any(answer.broken is not None for answer in found[-1][1]):
                break
    finally:
        other.close()
    return found


def excused(judged: Verdict) -> Verdict:
    """Return the verdict on what a backend refused that answers no case of the operation."""
    return Verdict(outcome="unsupported", clauses={}, detail=judged.detail)


def seconds_of(answers: Sequence[Answer]) -> float:
    """Return the seconds that the backend took; 0.0 where no process answered."""
    return math.fsum(answer.result.seconds for answer in answers if isinstance(answer.result, Observation))
