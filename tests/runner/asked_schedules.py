"""The schedules that one backend makes, asked for one after the other, and the questions of the suite."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.backends.claim_limits import outside
from conformance.cases.case import Case
from conformance.cases.schedule.question import ScheduleCase, schedule_id
from conformance.runner.dialects.schedule import SUITE, facts, mean
from conformance.runner.dialects.schedule_inquiry import JudgedSchedule, MissingSchedule, ProgramOrGraph, inquiry
from conformance.runner.draws import numbered
from conformance.runner.worker.interface import Judgeable


def drawn(examples: int, seed: int) -> dict[str, list[ProgramOrGraph]]:
    """Return the distinct programs and graphs of ``examples`` draws of each domain, by operation; all have a graph."""
    found: dict[str, list[ProgramOrGraph]] = {}
    for name, domain in SUITE.domains.items():
        asked: Iterator[ScheduleCase] = (numbered(domain, seed, number)[0] for number in range(examples))
        distinct = {schedule_id(one): one for one in asked}
        found[name] = [one.of for one in distinct.values() if mean(one) is not None]
    return found


def ask_schedule(asked: ProgramOrGraph, worker: Judgeable, other: Judgeable) -> JudgedSchedule:
    """Return what came of a question: of ``worker``, and of ``other`` where another process has to be asked."""
    subject = mean(ScheduleCase(of=asked))
    if subject is None:
        return JudgedSchedule(
            MissingSchedule("unsupported", "a program without a graph has no schedule that could be judged")
        )
    claim = outside(worker.ready.claims, facts(subject).features)
    if claim is not None:
        return JudgedSchedule(MissingSchedule("unsupported", claim))
    dialogue = inquiry(asked, subject.graph)
    try:
        ask = next(dialogue)
        while True:
            ask = dialogue.send((other if ask.elsewhere else worker).ask(ask.request))
    except StopIteration as end:
        found: JudgedSchedule = end.value
    if found.missing is not None and found.missing.outcome == "refused" and isinstance(asked, Case):
        return JudgedSchedule(MissingSchedule("over_claimed", found.missing.detail))
    return found
