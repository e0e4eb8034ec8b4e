from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.backends.discovery import find, load
from conformance.backends.observing import typed
from conformance.cli import main
from conformance.runner.dialects import dialects, save_case
from conformance.runner.draws import numbered
from tests.faults.answers import TABLE
from tests.faults.fault import Fault

HARNESS = Path(__file__).parent / "answering.py"
SUITES = {"graph": "graphs", "global": "sharding", "types": "types"}


@cache
def answered(dialect: str) -> tuple[Any, bytes]:
    """Return a case in which every answer of the tables is wrong, and the right observation of it as JSON."""
    (domain, *_) = dialects()[dialect].suites[SUITES[dialect]].domains.values()
    reference = load(find("reference"))
    for number in range(200):
        case = numbered(domain, 0, number)[0]
        meant = dialects()[dialect].mean(case)
        if meant is None:
            continue
        found = asked(reference, dialect, case)
        blocks = next(iter(found.results.values()), ())
        if not found.errors and blocks and blocks[0] is not None and blocks[0].bits and blocks[0].shape:
            return case, msgspec.json.encode(found)
    raise AssertionError(f"no case of {dialect} fits")


def asked(backend: Any, dialect: str, case: Any) -> Any:
    if dialect == "types":
        return typed(backend, case)
    return backend.graph(case) if dialect == "graph" else backend.sharded(case)


@pytest.mark.parametrize("fault", TABLE.faults, ids=[fault.done for fault in TABLE.faults])
def test_a_wrong_answer_of_any_dialect_does_not_pass(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dialect, _, edit = fault.data
    monkeypatch.chdir(tmp_path)
    case, right = answered(dialect)
    save_case(case, tmp_path / "case.json")
    observation = json.loads(right)
    edit(observation)
    Path("answer.json").write_text(json.dumps(observation))
    status = main(["replay", "case.json", "-b", f"exec:{sys.executable} {HARNESS} answer.json", "--json"])
    said = capsys.readouterr()
    assert (status, "Traceback" in said.out + said.err) == (1, False), said
    assert next(iter(json.loads(said.out)["backends"].values()))["outcome"] in ("failed", "errored", "protocol_error")
