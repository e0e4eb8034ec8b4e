"""What docs/worker-protocol.md shows is valid, and its harness is judged."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest

from conformance.backends.protocol_schema import protocol_schema, text
from conformance.cases.schemas import FOLDER
from conformance.cli import main

DOCUMENT = (Path(__file__).parents[2] / "docs" / "worker-protocol.md").read_text()


def block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found is not None
    return found.group(1)


def perl() -> bool:
    if shutil.which("perl") is None:
        return False
    return subprocess.run(["perl", "-MJSON::PP", "-e", "1"], check=False, capture_output=True).returncode == 0


def test_the_protocol_schema_is_current() -> None:
    assert (FOLDER / "protocol.schema.json").read_text() == text(), "run python -m conformance.backends.protocol_schema"
    jsonschema.Draft202012Validator.check_schema(protocol_schema())


@pytest.mark.parametrize("line", block("jsonl").splitlines(), ids=lambda line: line[:28])
def test_a_line_of_the_transcript_is_valid_and_of_its_side_alone(line: str) -> None:
    schema, said = protocol_schema(), json.loads(line[2:])
    sides = {"<": "request", ">": "reply"}
    valid = {
        side: jsonschema.Draft202012Validator({**schema, "anyOf": [{"$ref": f"#/$defs/{side}"}]}).is_valid(said)
        for side in sides.values()
    }
    assert valid == {side: side == sides[line[0]] for side in valid}


@pytest.mark.skipif(not perl(), reason="needs perl with JSON::PP")
def test_the_harness_in_perl_conforms_within_its_claims(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harness.pl").write_text(block("perl"))
    words = ["--op", "broadcast", "--suite", "collectives", "--examples", "100", "-o", "out", "--json"]
    assert main(["run", "-b", "exec:perl harness.pl", *words]) in (0, 3)  # few examples leave clauses without a case
    log = [json.loads(line) for line in (tmp_path / "out" / "run.jsonl").read_text().splitlines()]
    assert {record["outcome"] for record in log if record["type"] == "case"} == {"passed", "unsupported"}
    assert sum(record["outcome"] == "passed" for record in log if record["type"] == "case") > 20
