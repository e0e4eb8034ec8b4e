"""Run logs as they really look: real cases, really judged, on backends that are wrong on purpose."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from conformance.cases.case import Case, case_id
from conformance.cases.codec import save
from conformance.cases.observation import Observation, RankError
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.generate.operations import DOMAINS
from conformance.judging.subject import Subject
from conformance.report import ClauseText, Report, Run, clause_texts, read_run, summarise
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import meaning, verdict
from conformance.runner.records.record import BackendEntry, CaseRecord, Failure, Footer, Header, Record
from conformance.runner.worker.answers import Answer, Broken
from conformance.specs import OPS as WHOLE
from conformance.specs import SHARED

OPS = {
    name: WHOLE[name] for name in ("all_gather", "all_reduce", "all_to_all", "broadcast", "permute", "reduce_scatter")
}

Claims = dict[str, dict[str, list[str]]]

EVERY_OPERATION: Claims = {name: {} for name in OPS}


def right(subject: Subject) -> Answer:
    if subject.rejected is not None:
        return raised(subject, "ValueError", str(subject.rejected), "invalid_argument")
    return Answer(Observation(results={name: tensors(blocks) for name, blocks in subject.expected.items()}))


def raised(subject: Subject, kind: str, message: str, category: str) -> Answer:
    error = RankError(kind=kind, message=message, category=category)
    return Answer(Observation(errors=(error,) * subject.case.program.world))


def tensors(blocks: Iterable[Array]) -> tuple[Tensor, ...]:
    return tuple(None if block is None else from_array(block) for block in blocks)


def hasty(subject: Subject) -> Answer:
    """Ignore the listed order of groups, sum bools as bools, crash on groups of one, and refuse with inner errors."""
    if subject.has("groups", "singletons") and subject.step.op == "all_to_all":
        return Answer(Broken("crashed", "killed by signal 11 (SIGSEGV)"))
    if subject.rejected is not None:
        return raised(subject, "RuntimeError", "internal assert failed at ProcessGroup.cpp:311", "internal")
    if subject.has("groups", "unsorted"):
        step = subject.step
        groups = tuple(tuple(sorted(group)) for group in step.groups)
        program = msgspec.structs.replace(subject.case.program, steps=(msgspec.structs.replace(step, groups=groups),))
        return right(meaning(msgspec.structs.replace(subject.case, program=program)))
    if subject.has("dtype", "bool") and subject.step.attrs.get("op") == "sum":
        return right(
            dataclasses.replace(
                subject,
                expected={k: [b if b is None else b.astype(bool) for b in v] for k, v in subject.expected.items()},
            )
        )
    return right(subject)


def sleepy(subject: Subject) -> Answer:
    """Hang on empty blocks, and accept every permutation."""
    if subject.has("size", "empty") and subject.step.op in ("all_gather", "permute"):
        return Answer(Broken("timeout", "no answer for 20 s"))
    if subject.rejected is not None and subject.step.op == "permute":
        blocks = subject.case.blocks()["x"]
        return Answer(Observation(results={"y": tensors(blocks)}))
    return right(subject)


SAMPLE = {
    "steady": (right, EVERY_OPERATION),
    "hasty": (hasty, EVERY_OPERATION),
    "sleepy": (sleepy, {op: {"dtype": ["bfloat16", "bool", "float32", "int32"]} for op in OPS if op != "broadcast"}),
}


def sample(directory: Path, examples: int = 60, *, complete: bool = True) -> None:
    """Write the log of a run of three backends over the whole specification, with its failing cases."""
    directory.mkdir(parents=True, exist_ok=True)
    subjects: dict[str, Subject] = {}
    for op in OPS.values():
        draw_cases(DOMAINS[op.name], examples, 7, lambda case: subjects.setdefault(case_id(case), meaning(case)))
    records: list[Record] = [sample_header()]
    failing: defaultdict[tuple[str, ...], list[CaseRecord]] = defaultdict(list)
    for backend, (answer, claims) in SAMPLE.items():
        for name, subject in subjects.items():
            record = judged(backend, name, subject, answer, claims)
            records.append(record)
            if record.blame:
                failing[backend, record.op, record.blame, record.outcome].append(record)
    for members in failing.values():
        first = min(members, key=lambda r: (r.world, size_of(subjects[r.case].case)))
        records.append(failure_of(directory, first, subjects[first.case].case, [r.case for r in members]))
    cases = [record for record in records if isinstance(record, CaseRecord)]
    if complete:
        records.append(footer_of(cases))
    write_log(directory, records)


def size_of(case: Case) -> int:
    return sum(len(block.bits) for operand in case.inputs.values() for block in operand.blocks)


def judged(
    backend: str, name: str, subject: Subject, answer: Callable[[Subject], Answer], claims: Claims
) -> CaseRecord:
    common = {"backend": backend, "case": name, "op": subject.step.op, "world": subject.case.program.world}
    common["dtype"] = "+".join(sorted({b.dtype for o in subject.case.inputs.values() for b in o.blocks}))
    allowed = claims.get(subject.step.op)
    if allowed is None or common["dtype"] not in allowed.get("dtype", [common["dtype"]]):
        return CaseRecord(**common, outcome="unsupported", clauses={}, seconds=0.0)
    seen = verdict(subject, answer(subject))
    return CaseRecord(
        **common,
        outcome=seen.outcome,
        clauses=seen.clauses,
        seconds=0.004,
        blame=seen.blame.id if seen.blame else None,
        requirement=seen.blame.requirement if seen.blame else None,
        detail=seen.detail,
    )


def failure_of(directory: Path, record: CaseRecord, case: Case, explains: list[str]) -> Failure:
    file = f"cases/{record.case.replace('/', '_')}.json"
    (directory / "cases").mkdir(exist_ok=True)
    save(case, directory / file)
    return Failure(
        backend=record.backend,
        op=record.op,
        clause=record.blame or "",
        requirement=record.requirement or "must",
        outcome=record.outcome,
        case=record.case,
        file=file,
        detail=record.detail or "",
        minimal=True,
        explains=tuple(explains),
    )


def sample_header(**changes: object) -> Header:
    environment = {
        "python": "3.11.7",
        "numpy": "2.4.6",
        "system": "Linux 6.1 x86_64",
        "cpu": "8 cores",
        "hypothesis": "6.170",
    }
    versions = {
        "steady": {"steady": "1.4.0", "device": "pthread-cpu"},
        "hasty": {"hasty": "2.13.0"},
        "sleepy": {"sleepy": "0.10"},
    }
    values = {
        "format": 1,
        "suites": ("collectives",),
        "spec_digest": "5c1e" * 16,
        "reference_digest": "a7d0" * 16,
        "seed": 0,
        "profile": "default",
        "examples": 60,
        "ops": tuple(OPS),
        "started": "2026-11-21T03:00:00+00:00",
        "environment": environment,
        "backends": tuple(
            BackendEntry(name=name, description=versions[name], claims=claims) for name, (_, claims) in SAMPLE.items()
        ),
    }
    return Header(**{**values, **changes})


def footer_of(cases: Iterable[CaseRecord]) -> Footer:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for record in cases:
        counts[record.backend][record.outcome] += 1
    return Footer(
        finished="2026-11-21T03:04:00+00:00",
        seconds=240.0,
        counts={name: dict(found) for name, found in counts.items()},
        seconds_by_backend={name: 2.0 + index for index, name in enumerate(counts)},
    )


def write_log(directory: Path, records: Iterable[Record]) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "run.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    return path


SPECIFICATION = clause_texts(OPS.values(), SHARED)


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    directory = tmp_path_factory.mktemp("runs") / "sample"
    sample(directory)
    return read_run(directory)


@pytest.fixture(scope="session")
def sample_report(sample_run: Run) -> Report:
    return summarise([sample_run], SPECIFICATION)


TINY = (
    ClauseText(op="shift", id="shift.C1", requirement="must", text="It shifts.", aliases={"acme": ("roll",)}),
    ClauseText(op="shift", id="shift.C2", requirement="should", text="It shifts quickly."),
    ClauseText(op="family", id="family.C1", requirement="must", text="Every rank answers.", shared=True),
)


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[..., Path]:
    """Return the maker of a run of one backend, ``acme``, over a specification of one operation."""

    def make(*records: Record, name: str = "tiny", footer: bool = True, **header: object) -> Path:
        entry = BackendEntry(name="acme", description={"acme": "1"}, claims={"shift": {}})
        first = sample_header(**{"ops": ("shift",), "backends": (entry,), **header})
        last = [footer_of([r for r in records if isinstance(r, CaseRecord)])] if footer else []
        write_log(tmp_path / name, [first, *records, *last])
        return tmp_path / name

    return make


@pytest.fixture
def record() -> Callable[..., CaseRecord]:
    """Return the maker of a case record: passed, of ``shift``, all clauses held, unless told otherwise."""

    def make(case: str, **changes: object) -> CaseRecord:
        clauses = {"shift.C1": "held", "shift.C2": "held", "family.C1": "held"}
        values = {"backend": "acme", "op": "shift", "dtype": "int32", "world": 2, "outcome": "passed", "seconds": 0.01}
        return CaseRecord(**{**values, "case": case, "clauses": clauses, **changes})

    return make


@pytest.fixture
def specification() -> tuple[ClauseText, ...]:
    return TINY


def unfolded(page: str) -> str:
    """Return the text of a page with everything that its scripts may open."""
    encoding, data = re.findall(r'id="data" data-encoding="(\w+)">([^<]*)<', page)[0]
    parts = json.loads(gzip.decompress(base64.b64decode(data)) if encoding == "gzip" else data)["parts"]
    return page + "\n".join(parts.values())
