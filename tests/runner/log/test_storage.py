"""A large log is compressed when its run has ended, and read, reported and resumed as before."""

from __future__ import annotations

import gzip
import os
from hashlib import sha256
from pathlib import Path

import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cli.reporting import restored
from conformance.report.inputs.run import read_run
from conformance.runner.explore import explore
from conformance.runner.log.reading import LogError, read
from conformance.runner.log.storage import opened, pack, packed
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord, case_file
from conformance.runner.worker.in_process import InProcess

PLAN = Plan(ops=("broadcast",), examples=20, suites=("collectives",))


def run(directory: Path, *, resume: bool = False) -> int:
    workers = {"it": InProcess(BackendSpec("it", ()), backend=Reference())}
    return explore(PLAN, workers, directory, resume=resume).status


def test_a_large_log_is_compressed_read_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "plain")
    monkeypatch.setattr("conformance.runner.log.storage.pack.__defaults__", (1,))
    run(tmp_path / "packed")
    assert [file.name for file in (tmp_path / "packed").iterdir()] == ["run.jsonl.gz"]
    assert len(read(tmp_path / "packed" / "run.jsonl")) == len(read(tmp_path / "plain" / "run.jsonl"))
    assert read_run(tmp_path / "packed").why_incomplete == read_run(tmp_path / "plain").why_incomplete
    run(tmp_path / "packed", resume=True)
    assert len(read_run(tmp_path / "packed").records) == len(read_run(tmp_path / "plain").records)
    assert [file.name for file in (tmp_path / "packed").iterdir()] == ["run.jsonl.gz"]


def test_a_compressed_log_is_what_the_run_wrote_until_somebody_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "plain")
    records = read(tmp_path / "plain" / "run.jsonl")
    whole = (tmp_path / "plain" / "run.jsonl").read_bytes()
    digest, length = sha256(whole).hexdigest(), len(whole)
    monkeypatch.setattr("conformance.runner.log.storage.pack.__defaults__", (1,))
    log = tmp_path / "plain" / "run.jsonl"
    pack(log)
    assert restored(tmp_path / "plain", records, digest, length)
    for forge in (lambda: packed(log).write_bytes(b"{}"), lambda: log.write_bytes(b"{}\n")):
        forge()
        assert not restored(tmp_path / "plain", records, digest, length)
        assert [file.name for file in (tmp_path / "plain").iterdir()] == ["run.jsonl.gz"]
        assert restored(tmp_path / "plain", records, digest, length)


def test_a_damaged_compressed_log_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl.gz").write_bytes(gzip.compress(b"{}" * 999)[:20])
    with pytest.raises(LogError, match=r"run.jsonl.gz: a compressed log that is damaged"):
        read(tmp_path / "run.jsonl")


def test_a_pipe_in_the_place_of_a_log_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.jsonl")
    with pytest.raises(OSError, match="not a regular file"):
        opened(tmp_path / "run.jsonl")


def test_a_case_that_a_log_has_twice_is_taken_over_once(tmp_path: Path) -> None:
    run(tmp_path)
    log = tmp_path / "run.jsonl"
    header, first, *rest = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join((header, first, first, *rest[:-1])))
    run(tmp_path, resume=True)
    assert len({record.case for record in read(log) if isinstance(record, CaseRecord)}) == 20
    assert read(log)[-1].counts == {"it": {"passed": 20}}  # type: ignore[union-attr]


def test_a_line_with_a_key_twice_is_named_and_one_that_is_only_spaced_otherwise_is_read(tmp_path: Path) -> None:
    run(tmp_path)
    log = tmp_path / "run.jsonl"
    whole, found = log.read_bytes(), read(log)
    log.write_bytes(whole.replace(b'":"', b'" : "'))
    assert read(log) == found
    log.write_bytes(whole.replace(b'"outcome":"passed"', b'"outcome":"failed","outcome":"passed"', 1))
    with pytest.raises(LogError, match=r"run.jsonl:\d+: not a record of a run log: it has the key 'outcome' twice"):
        read(log)


def test_the_file_of_a_case_with_a_long_id_has_a_name_that_can_be_written(tmp_path: Path) -> None:
    long = "+".join(["broadcast"] * 100) + "/float32-6/0123456789ab"
    file = tmp_path / case_file(long)
    file.parent.mkdir()
    file.touch()
    assert file.name.endswith("_0123456789ab.json")
    assert case_file("barrier/int32-2/0123456789ab") == "cases/barrier_int32-2_0123456789ab.json"
