"""``python large.py FOLDER [RECORDS]``: a report of many made-up records on twenty backends, and what making it took.

Prints seconds and the greatest size of the process in MiB.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec

from conformance.cli.reporting import report_of
from conformance.report import write_all
from conformance.runner.plan import PROFILES, Plan
from conformance.runner.records.record import BackendEntry, CaseRecord, Footer, Header
from conformance.specs import OPS, clauses_of

BACKENDS = [f"backend-{number}" for number in range(20)]
MOST = 500
"""Mebibytes that the process may have at its largest."""

OUTCOMES = ["passed"] * 20 + ["failed", "unsupported", "errored", "unsupported"]
DTYPES = ["float32", "int32", "bfloat16", "bool"]


def record(number: int, backend: str, op: str) -> CaseRecord:
    outcome = OUTCOMES[(number * 7 + len(backend)) % len(OUTCOMES)]
    clauses = [clause.id for clause in clauses_of(op)]
    spoken = [clauses[(number + step) % len(clauses)] for step in range(12)] if outcome != "unsupported" else []
    broken = outcome in {"failed", "errored"}
    return CaseRecord(
        backend=backend,
        case=f"{op}/{DTYPES[number % 4]}-2/{number:012x}",
        op=op,
        dtype=DTYPES[number % 4],
        world=2,
        outcome=outcome,
        clauses={name: "broken" if broken and at == 0 else "held" for at, name in enumerate(dict.fromkeys(spoken))},
        seconds=0.001,
        blame=spoken[0] if broken else None,
        requirement="must" if broken else None,
        detail="y on rank 0: 1 of 4 elements differ" if broken else None,
    )


def main(folder: Path, count: int) -> None:
    plan = Plan(ops=tuple(OPS), examples=PROFILES["default"].examples)
    entries = tuple(BackendEntry(name=name, description={}, claims={op: {} for op in OPS}) for name in BACKENDS)
    header = Header(
        started="2026-01-01T00:00:00Z", seed=0, profile="default", examples=plan.examples, suites=plan.suites,
        ops=plan.ops, backends=entries, spec_digest="0" * 64, reference_digest="0" * 64, environment={}, format=1,
    )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    counts: dict[str, Counter[str]] = {name: Counter() for name in BACKENDS}
    with (folder / "run.jsonl").open("wb") as log:
        log.write(msgspec.json.encode(header) + b"\n")
        for number in range(count):
            one = record(number // len(BACKENDS), BACKENDS[number % len(BACKENDS)], list(OPS)[number % len(OPS)])
            counts[one.backend][one.outcome] += 1
            log.write(msgspec.json.encode(one) + b"\n")
        footer = Footer(
            finished="2026-01-01T00:10:00Z", seconds=600.0, counts={n: dict(c) for n, c in counts.items()},
            seconds_by_backend=dict.fromkeys(BACKENDS, 30.0), clauses_never_exercised=(),
        )  # fmt: skip
        log.write(msgspec.json.encode(footer) + b"\n")
    began = time.perf_counter()
    write_all(report_of([folder]), folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{time.perf_counter() - began:.1f} s, {peak:.0f} MiB, {(folder / 'index.html').stat().st_size} bytes")
    if peak > MOST:
        sys.exit(f"making the page took {peak:.0f} MiB; at most {MOST} are due")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
