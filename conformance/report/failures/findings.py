"""Findings: the ways to fail that have one cause, over operations, clauses and dtypes.

An error that says something is one cause wherever it is raised; a wrong value, a signal or a hang says nothing of its
cause, so that there the clause to blame tells causes apart.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from conformance.judging.cause import Signature, signature
from conformance.judging.clause import Outcome, Requirement
from conformance.reference.operations import TABLE
from conformance.report.counts.tally import SEVERITY
from conformance.runner.records.known import Expected
from conformance.runner.records.record import CaseRecord, Failure, SequenceFailure

_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")
"""What a part of a file's name may be everywhere."""

_OTHER: Final = re.compile(r"[^A-Za-z0-9_.+-]+")

SCRIPTS: Final = "scripts"
"""The folder of a report in which programs of the frameworks alone are."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Failures with one cause, shown by their smallest case, which is the stored ``file``, relative to the run.

    ``cause`` is a sentence. ``clauses`` are to blame, none for a sequence. ``cases`` counts distinct failing cases.
    ``sequence`` has the stored files of the cases that must run one after the other, where the last one
    passes alone. ``script`` is a program of the framework alone that shows it, relative to the report, where there is
    one: made of the case, else by hand. ``explanation`` is what a person wrote about the cause, with a ``link``.
    ``title`` says it without clause ids.
    ``others`` are backends that fail so too, other ways to drive the framework of ``backend``, whose case is shown.
    ``origin`` is where the first of its cases came from, as the run's record says it.
    """

    backend: str
    cause: str
    outcome: Outcome
    requirement: Requirement
    clauses: tuple[str, ...]
    ops: tuple[str, ...]
    dtypes: tuple[str, ...]
    cases: int
    case: str
    file: str
    minimal: bool
    detail: str
    error: str | None = None
    sequence: tuple[str, ...] = ()
    known: Expected | None = None
    script: str | None = None
    explanation: str | None = None
    link: str | None = None
    others: tuple[str, ...] = ()
    origin: str | None = None
    title: str = ""


def script_of(found: Finding) -> str:
    """Return where the script of a finding is kept that is made for it, relative to the report."""
    stem = f"{found.backend}-{found.file.rpartition('/')[2].removesuffix('.json')}"
    return f"{SCRIPTS}/{stem if _PLAIN.fullmatch(stem) else _stem(stem)}.py"


def _stem(text: str) -> str:
    """Return the name of a file for a text that is none: what is left of it, and a digest that tells it from others."""
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{_OTHER.sub('-', text).strip('-.+')[:80] or 'script'}-{digest}"


def findings(
    failures: Iterable[Failure], sequences: Iterable[SequenceFailure], records: Mapping[tuple[str, str], CaseRecord]
) -> tuple[tuple[Finding, tuple[Failure, ...]], ...]:
    """Return the findings and the failures that each is made of, known ones last.

    Those of a *must* come before those of a *should*, and those of more cases first. ``records`` are those of the cases
    by backend and id.
    """
    groups: defaultdict[tuple[object, ...], list[Failure]] = defaultdict(list)
    for failure in failures:
        groups[_cause(failure)].append(failure)
    found = [(_finding(members, records), tuple(members)) for members in groups.values()]
    found += [(_of_sequence(one, records), ()) for one in sequences]
    return tuple(sorted(found, key=lambda one: _order(one[0])))


def _order(found: Finding) -> tuple[object, ...]:
    return found.known is not None, found.backend, SEVERITY[found.requirement], -found.cases, found.case


def _cause(failure: Failure) -> tuple[object, ...]:
    found = signature(failure.outcome, failure.error, failure.detail)
    known = failure.case if failure.known else ""
    if failure.requirement != "must":
        return failure.backend, failure.requirement, failure.clause, found.outcome, found.error, known
    clause = "" if speaks(found) else failure.clause
    return failure.backend, failure.requirement, clause, found, known


def speaks(found: Signature) -> bool:
    """Return whether an error says what is wrong, and not just that a process ended."""
    return found.outcome == "errored" and bool(found.says) and "SIG" not in found.says


def _finding(members: Sequence[Failure], records: Mapping[tuple[str, str], CaseRecord]) -> Finding:
    first = min(members, key=lambda f: (not f.minimal, _world(f.case), len(f.explains) == 0, f.case))
    cases = {case for failure in members for case in failure.explains}
    return Finding(
        backend=first.backend,
        cause=_sentence(first),
        outcome=first.outcome,
        requirement=first.requirement,
        clauses=tuple(sorted({failure.clause for failure in members})),
        ops=tuple(sorted({_op(failure) for failure in members})),
        dtypes=_dtypes(first.backend, cases, records),
        cases=len(cases),
        case=first.case,
        file=first.file,
        minimal=first.minimal,
        detail=first.detail,
        error=first.error,
        known=first.known,
        origin=_origin(first.backend, (case for failure in (first, *members) for case in failure.explains), records),
    )


def _origin(backend: str, cases: Iterable[str], records: Mapping[tuple[str, str], CaseRecord]) -> str | None:
    """Return where the first of some cases came from that a record says it of."""
    found = (records[backend, case].origin for case in cases if (backend, case) in records)
    return next((origin for origin in found if origin), None)


def _op(failure: Failure) -> str:
    """Return the operation that the smallest case of a failure ends in: it may be another than was drawn for.

    What is no program of collectives has one word for all its cases.
    """
    last = failure.case.partition("/")[0].rpartition("+")[2]
    return last if failure.op in TABLE and last in TABLE else failure.op


def _of_sequence(one: SequenceFailure, records: Mapping[tuple[str, str], CaseRecord]) -> Finding:
    many = len(one.cases) - 1
    before = f"{many} other case{'s' if many > 1 else ''} in the same process"
    return Finding(
        backend=one.backend,
        cause=f"{_ended(one.outcome, one.error, one.detail)} after {before}, and not alone",
        outcome=one.outcome,
        requirement=one.requirement,
        clauses=(),
        ops=(one.op,),
        dtypes=_dtypes(one.backend, one.explains, records),
        cases=len(one.explains),
        case=one.cases[-1],
        file=one.files[-1],
        minimal=one.minimal,
        detail=one.detail,
        error=one.error,
        sequence=one.files,
        known=one.known,
        origin=_origin(one.backend, one.explains, records),
    )


def _dtypes(backend: str, cases: Iterable[str], records: Mapping[tuple[str, str], CaseRecord]) -> tuple[str, ...]:
    found = (records[backend, case].dtype for case in cases if (backend, case) in records)
    return tuple(sorted({dtype for dtype in found if dtype}))


def _sentence(failure: Failure) -> str:
    says = signature(failure.outcome, failure.error, failure.detail)
    if failure.requirement == "must" and speaks(says):
        return f"{failure.error}: {says.says}"
    return f"{failure.clause} is broken: {_ended(failure.outcome, failure.error, failure.detail)}"


def _ended(outcome: Outcome, error: str | None, detail: str) -> str:
    """Return how a case ended in a few words: ``crashed (SIGSEGV)``, ``wrong elements``, ``raised RuntimeError``."""
    words = {
        "elements": "wrong elements",
        "dtype": "another dtype",
        "shape": "another shape",
        "missing": "a result is missing",
        "accepted": "accepted without an error",
        "storage": "other storage was written",
        "bool byte": "a bool that is neither 0 nor 1",
    }
    says = signature(outcome, error, detail).says
    if outcome == "failed":
        told = words.get(says, "wrong")
        return f"{told} ({error})" if error else told
    if outcome == "errored":
        return f"raised {error}" if error else "raised"
    return f"{outcome.replace('_', ' ')}{f' ({error})' if error else ''}"


def _world(case: str) -> int:
    """Return the number of ranks that the id of a case names."""
    tail = case.split("/")[1].rsplit("-", 1)[-1] if case.count("/") == 2 else "0"
    return int(tail) if tail.isdigit() else 0
