"""Before anything is made smaller: does a failing case fail alone, or only after others in the same process?

Of every way to fail some cases are run alone in a fresh process. Where one passes, all that fail in that way are judged
again in processes that gave no failing answer before: those that pass there are no failures of the clauses that they
broke. For the first of them in each process the shortest sequence of cases is sought that makes it fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from time import monotonic
from typing import Any, Final

from msgspec.structs import replace

from conformance.judging.cause import Signature
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.case_record import flaky_record
from conformance.runner.backend.failure_equivalence import blamed, way
from conformance.runner.records.company import Company
from conformance.runner.records.record import SequenceFailure
from conformance.runner.shrinking.sequences import FailingSequence, shortest
from conformance.runner.shrinking.smaller_sequences import smaller

MORE: Final = 3
"""Cases of one way to fail, beside the smallest, that are run alone."""

MORE_SECONDS: Final = 120.0
"""Seconds of a backend after which only the smallest is: starting Torch and its ranks takes four, and it had some 60
ways to fail."""


MOST_COMPANY: Final = 20
"""Cases that fail in company alone and are run in fresh processes: a company of which more do has one cause."""


def confirm(backend: BackendRun, late: Callable[[], bool]) -> None:
    """Run cases of every way to fail alone; what passes so is recorded so."""
    _confirm_company(backend, late)
    began = monotonic()
    ways: dict[Signature, list[str]] = {}
    for name in backend.failures.left():
        ways.setdefault(way(backend.failures.verdict_of(name)), []).append(name)
    for names in ways.values():
        more = MORE if monotonic() - began < MORE_SECONDS else 0
        sample = _sample(backend, names, more)
        alone = [_alone(backend, name, late) for name in sample]
        if False in alone:
            _judge_again(backend, [name for name in names if name not in sample], late)


def _confirm_company(backend: BackendRun, late: Callable[[], bool]) -> None:
    """Run what failed in company and passed alone in a fresh process, too: what it does there is its verdict."""
    for origin, record in list(backend.failures.in_company.items())[:MOST_COMPANY]:
        one = backend.origins.again(origin)
        judged = backend.queries.alone(one, late)
        if judged is not None and judged.outcome != "passed":
            backend.records.replaceable(record)
            note = "this is what it does alone in a fresh process; alone after other cases it passed"
            company = record.company and Company(of=record.company.of, alone=True)
            backend.records.add(one, judged, origin, note=note, company=company)
            backend.failures.confirmed.add(one.name)


def _sample(backend: BackendRun, names: list[str], more: int) -> list[str]:
    """Return the smallest case and some others: the last one answered, which has most before it, and the first."""
    first = min(names, key=lambda name: backend.failures.found.kept[name].size)
    others = [name for name in names if name != first]
    picked = [others[at] for at in (-1, 0, len(others) // 2)[:more]] if others else []
    return list(dict.fromkeys((first, *picked)))


def _alone(backend: BackendRun, name: str, late: Callable[[], bool]) -> bool | None:
    """Return whether a case fails alone as it did among others, and record what it does; ``None`` if it was not run."""
    if name in backend.failures.confirmed:
        return True
    judged = backend.queries.alone(backend.failures.trial(name), late)
    if judged is None:
        return None
    if judged.blame is not None and way(judged) == way(backend.failures.verdict_of(name)):
        backend.failures.confirmed.add(name)
        return True
    backend.failures.settle_alone(name, judged)
    return False


def _judge_again(backend: BackendRun, names: list[str], late: Callable[[], bool]) -> None:
    """Judge cases again in processes that gave no failing answer before."""
    backend.queries.forget()
    for name in names:
        if late():
            return
        judged = backend.queries.ask(backend.failures.trial(name).case, careful=True)
        if judged.outcome != "not_run" and (
            judged.blame is None or way(judged) != way(backend.failures.verdict_of(name))
        ):
            backend.failures.settle_alone(name, judged)


def sequences(
    backend: BackendRun, save: Callable[[str, Any], str], late: Callable[[], bool]
) -> Iterator[SequenceFailure]:
    """Yield, once for each cause found, the shortest sequence that makes cases fail that pass alone, of smaller cases.

    What failed later in the same process as the case that a sequence was found for has the same cause.
    """
    found: dict[tuple[int, ...], tuple[FailingSequence, list[str]]] = {}
    first: dict[int, list[str]] = {}
    for name in sorted(backend.failures.dependent, key=lambda name: backend.processes.places.get(name, (0, 0))):
        first.setdefault(backend.processes.places.get(name, (0, 0))[0], []).append(name)
    for names in first.values():
        if late():
            break
        one = shortest(backend, names[0], [known for known, _ in found.values()], late)
        if one is not None:
            found.setdefault(one.origins[:-1], (one, []))[1].extend(names)
    for one, names in found.values():
        yield _failure(backend, one, names, save, late)


def settle_unrepeated(backend: BackendRun, explained: AbstractSet[str]) -> None:
    """Write that cases are flaky which failed once after others, pass alone, and fail after no sequence again.

    Those that a sequence was found for, or anything else, are ``explained``.
    """
    for name, failed in list(backend.failures.found.kept.items()):
        record, once = failed.record, failed.record.unrepeated
        if once is not None and record.outcome == "passed" and name not in explained:
            why = "once after other cases, once alone, and after no sequence of cases again"
            flaky = flaky_record(record, {once: 1, record.outcome: 1}, why)
            backend.failures.settle_flaky(replace(flaky, unrepeated=once), record)


def _failure(
    backend: BackendRun,
    found: FailingSequence,
    names: list[str],
    save: Callable[[str, Any], str],
    late: Callable[[], bool],
) -> SequenceFailure:
    drawn = [backend.origins.again(origin) for origin in found.origins]
    trials, judged = smaller(backend, drawn, found.judged, late)
    last = trials[-1]
    blame = blamed(judged, last.dialect.clauses(last.facts.op, backend.terms), minimal=False)
    return SequenceFailure(
        backend=backend.name,
        op=last.facts.op,
        clause=blame.id,
        requirement=blame.requirement,
        outcome=judged.outcome,
        cases=tuple(one.name for one in trials),
        files=tuple(save(one.name, one.case) for one in trials),
        detail=judged.detail or "",
        minimal=found.minimal,
        explains=tuple(names),
        error=judged.error,
        known=next(
            (backend.failures.covered[one.name] for one in drawn[:-1] if one.name in backend.failures.covered), None
        ),
    )
