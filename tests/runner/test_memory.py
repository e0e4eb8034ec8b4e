"""What the runner keeps of a case: an id of some twenty bytes, and where failing ones came from."""

from __future__ import annotations

from pathlib import Path

import msgspec

from conformance.runner.ids import Ids
from conformance.runner.log.copy import Copy
from conformance.runner.log.log import CaseRecord, Footer, Header, read


def test_an_id_takes_few_bytes_and_is_found_again() -> None:
    ids = Ids()
    assert all(ids.add(f"all_gather/float32-4/{number:012x}") for number in range(5000))
    assert not any(ids.add(f"all_gather/float32-4/{number:012x}") for number in range(5000))
    assert (len(ids), "barrier/none-4/000000000000" in ids) == (5000, False)
    assert ids._places.itemsize * len(ids._places) <= 24 * 5000


def test_the_copy_of_a_log_has_its_records_and_no_name(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    footers = [Footer(finished=str(number), seconds=1.0, counts={}) for number in range(3000)]
    for each in footers:
        copy.write(msgspec.json.encode(each) + b"\n")
    assert list(copy) == footers
    assert list(copy) == footers
    assert not list(tmp_path.iterdir())


def test_equal_clauses_of_a_log_are_in_memory_once(tmp_path: Path) -> None:
    line = (
        b'{"type":"case","backend":"b","case":"c","op":"o","dtype":"d","world":1,"outcome":"passed",'
        b'"clauses":{"o.C1":"held"},"seconds":0.1}\n'
    )
    head = Header(
        suites=(), spec_digest="", reference_digest="", seed=0, profile="", examples=1, ops=(), started="",
        environment={}, backends=(),
    )  # fmt: skip
    (tmp_path / "run.jsonl").write_bytes(msgspec.json.encode(head) + b"\n" + 2 * line)
    _, one, other = read(tmp_path / "run.jsonl")
    assert isinstance(one, CaseRecord)
    assert isinstance(other, CaseRecord)
    assert one.clauses is other.clauses
