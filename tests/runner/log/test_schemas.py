"""The published schema of the run log is the generated one, and records are valid lines."""

from __future__ import annotations

import json

import jsonschema
import msgspec

from conformance.cases.schemas import FOLDER, written
from conformance.runner.log.schemas import run_schema
from conformance.runner.records.record import CaseRecord

VALIDATOR = jsonschema.Draft202012Validator(run_schema())


def test_the_run_schema_is_current() -> None:
    text = (FOLDER / "run.schema.json").read_text()
    assert text == written(run_schema()), "run python -m conformance.runner.log.schemas"
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_records_are_valid_lines_and_others_are_not() -> None:
    case = CaseRecord(
        backend="reference", case="a/b/0", op="a", dtype="bool", world=1, outcome="passed", clauses={}, seconds=0.1
    )
    line = json.loads(msgspec.json.encode(case))
    VALIDATOR.validate(line)
    assert not VALIDATOR.is_valid({**line, "outcome": "fine"})
    assert not VALIDATOR.is_valid({**line, "type": "cases"})
