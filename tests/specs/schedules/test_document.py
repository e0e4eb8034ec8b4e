"""What docs/schedules.md says is so."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import jsonschema

from conformance.cases.schedule.codec import parse
from conformance.cases.schedule.schema import schedule_schema
from conformance.specs.schedules import judge

DOCUMENT = (Path(__file__).parents[3] / "docs" / "schedules.md").read_text()


def test_the_example_breaks_nothing_and_does_without_its_wait() -> None:
    found = re.search(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found is not None
    document = json.loads(found.group(1))
    jsonschema.Draft202012Validator(schedule_schema()).validate(document)
    findings = {each.clause: each for each in judge(parse(json.dumps(document).encode()))}
    assert "broken" not in {each.finding for each in findings.values()}
    assert findings["law.C1"].finding == "held"
    counts = Counter(each.finding for each in findings.values())
    assert f"{counts['held']} held, 0 broken, {counts['silent']} do not speak of it" in DOCUMENT
    del document["items"][2]
    broken = [each for each in judge(parse(json.dumps(document).encode())) if each.finding == "broken"]
    assert [each.clause for each in broken] == ["waits.C1"]
    assert f'"{broken[0].detail}"' in DOCUMENT
