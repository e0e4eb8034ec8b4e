"""The published schemas are the generated ones, and what the suite writes is valid."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import msgspec
import numpy as np
import pytest

from conformance.cases.case import Case
from conformance.cases.codec import save
from conformance.cases.schemas import FOLDER, case_schema, written

Make = Callable[..., Case]
VALIDATOR = jsonschema.Draft202012Validator(case_schema())


def test_the_case_schema_is_current() -> None:
    text = (FOLDER / "case.schema.json").read_text()
    assert text == written(case_schema()), "run python -m conformance.cases.schemas"
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


@pytest.mark.parametrize("extent", [0, 3, 5000])
def test_case_files_are_valid(make: Make, tmp_path: Path, extent: int) -> None:
    save(make([np.zeros(extent, np.float32)] * 3, "strided"), tmp_path / "case.json")
    VALIDATOR.validate(json.loads((tmp_path / "case.json").read_text()))


def test_what_types_cannot_say_the_schema_says(make: Make, tmp_path: Path) -> None:
    save(make(), tmp_path / "case.json")
    for old, new in [
        ('"format": 1', '"format": 2'),
        ('"int32"', '"int31"'),
        ('"size": 2', '"size": 0'),
        ('"bits": "01', '"bits": "0x'),
        ('"bits": "01000000"', '"file": "../a.safetensors"'),
        ('"bits": "01000000"', '"bits": "", "file": "a.safetensors"'),
        ('"contiguous"', '"diagonal"'),
        ('"results": ["y"]', '"results": ["y"], "clauses": []'),
    ]:
        text = (tmp_path / "case.json").read_text()
        assert old in text
        assert not VALIDATOR.is_valid(msgspec.json.decode(text.replace(old, new, 1))), new
