"""Valid documents of every format, to begin with."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec
import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.cli import main
from conformance.runner.dialects import dialects, save_case
from conformance.runner.draws import numbered

ROOT: Final = Path(__file__).parents[2]
BROKEN: Final = "conformance.qualification.mutants.broadcast:BroadcastTakesAWorldRank"
"""A backend that fails, so that its log has failures."""

RUN: Final = (
    *("-b", f"reference,{BROKEN}", "--op", "broadcast,sharded", "--suite", "collectives,sharding"),
    *("--examples", "6", "--in-process", "--json"),
)
"""What is run."""

Files = dict[str, bytes]
"""What is in a folder, by name; the first is the one that is changed."""

MANY: Final = 24
"""Cases of a dialect to begin with, of each suite one after another."""

LARGEST: Final = 60_000
"""Bytes of a document to begin with: changing, reading and judging one then takes milliseconds."""


def written(case: Any) -> Files:
    """Return the files of a case."""
    with TemporaryDirectory() as folder:
        save_case(case, Path(folder) / "case.json")
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


@cache
def drawn(dialect: str) -> tuple[Any, ...]:
    """Return drawn cases of a dialect, small ones, those of all its suites and operations."""
    found: list[Any] = []
    domains = [domain for suite in dialects()[dialect].suites.values() for domain in suite.domains.values()]
    for number in range(60):
        case = numbered(domains[number % len(domains)], 7, number)[0]
        if len(msgspec.json.encode(case)) < LARGEST and dialects()[dialect].mean(case) is not None:
            found.append(case)
    return tuple(found[:MANY])


@cache
def cases(dialect: str) -> tuple[Files, ...]:
    """Return the files of drawn cases of a dialect."""
    return tuple(map(written, drawn(dialect)))


@cache
def large() -> tuple[Files, ...]:
    """Return a case with its tensors in a file beside it, which is the one to change."""
    blocks = tuple(from_array(np.arange(2000, dtype=dtype)) for dtype in (np.int32, np.int32))
    step = Step(op="all_gather", inputs=("x",), outputs=("y",), axes=("i",), attrs={"axis": 0, "tiled": False})
    case = Case(
        program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)},
    )
    files = written(case)
    return ({name: files[name] for name in sorted(files, reverse=True)},)


@cache
def schedules() -> tuple[Files, ...]:
    """Return the schedules that the documents show."""
    shown = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "schedules.md").read_text(), re.DOTALL)
    return tuple({"schedule.json": text.encode()} for text in shown if '"items"' in text)


@cache
def run_folder() -> Files:
    """Return a run of two backends, one of which fails, with its failing cases; the log is first."""
    with TemporaryDirectory() as folder:
        with redirect_stdout(io.StringIO()):
            main(["run", *RUN, "-o", folder])
        files = {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
    kept = {name: files[name] for name in files if name.startswith("cases/")}
    return {"run.jsonl": files["run.jsonl"], "report.json": _short(files["report.json"]), **kept}


def _short(content: bytes) -> bytes:
    """Return a report of which every list has a few entries."""
    whole = json.loads(content)
    return json.dumps({name: part[:4] if isinstance(part, list) else part for name, part in whole.items()}).encode()


def log() -> Files:
    """Return the log of a run with its failing cases, and no report."""
    return {name: content for name, content in run_folder().items() if name != "report.json"}


def report() -> Files:
    """Return the report of a run with its failing cases."""
    files = dict(run_folder())
    return {"report.json": files.pop("report.json"), **files}


@cache
def known() -> Files:
    """Return known failures and their cases."""
    files = {name: content for name, content in run_folder().items() if name.startswith("cases/")}
    failures = [json.loads(line) for line in run_folder()["run.jsonl"].splitlines() if b'"type":"failure"' in line]
    entries = [
        {
            **{name: each[name] for name in ("case", "backend", "clause", "outcome")},
            "issue": "https://a.example/7",
            "owner": "Ann",
            "expiry": "2999-12-31",
        }
        for each in failures
    ]
    return {"known.json": json.dumps(entries).encode(), **files}


@cache
def explanations() -> Files:
    """Return explanations, and beside them the run whose findings they explain."""
    causes = [finding["cause"] for finding in json.loads(run_folder()["report.json"])["findings"]]
    said = [
        {
            "backends": [BROKEN], "causes": causes, "sentence": "So.", "owner": "Ann", "expiry": "2999-12-31",
            "link": "https://a.example/7", "shows": ["broadcast", "a|b"],
        }
    ]  # fmt: skip
    return {"explanations.json": json.dumps(said).encode(), **log()}


@cache
def qualification() -> Files:
    """Return what ``conformance qualify --json`` prints, a part of it, and a run to report."""
    whole = json.loads((ROOT / "reports" / "qualification.json").read_text())
    said = {name: part[:4] if isinstance(part, list) else part for name, part in whole.items()}
    return {"qualification.json": json.dumps(said).encode(), **log()}
