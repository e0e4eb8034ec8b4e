"""Records that share what they have alike are what they were."""

from __future__ import annotations

import msgspec

from conformance.runner.backend.conversation import seconds_of
from conformance.runner.log.reading import decoded
from conformance.runner.records.record import CaseRecord
from conformance.runner.worker.answers import Answer, Broken


def test_a_record_read_back_is_written_the_same() -> None:
    common = {"backend": "b", "op": "o", "dtype": "", "world": 1, "seconds": 0.0}
    passed = CaseRecord(case="o/none-1/0", outcome="passed", clauses={"o.C1": "held"}, **common)
    records = [passed, msgspec.structs.replace(passed, case="o/none-1/1", outcome="unsupported", clauses={})]
    lines = [msgspec.json.encode(record) for record in records]
    assert [msgspec.json.encode(record) for record in decoded(lines)] == lines


def test_who_gave_nothing_took_no_seconds_written_as_they_are_read() -> None:
    broken = Answer(result=Broken(outcome="crashed", detail="", stderr_tail=""))
    assert msgspec.json.encode(seconds_of([broken])) == b"0.0"
