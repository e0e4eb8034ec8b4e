"""What is read of a log has a bound, whatever the file unpacks to."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from conformance.runner.log import reading
from conformance.runner.log.header import kept_of
from conformance.runner.log.reading import LogError, read
from conformance.runner.records.record import Header

HEADER = (
    b'{"type":"header","format":1,"suites":[],"spec_digest":"","reference_digest":"","seed":0,"profile":"default",'
    b'"examples":1,"ops":[],"started":"","environment":{},"backends":[]}\n'
)


def bomb(path: Path, line: bytes, lines: int) -> None:
    with gzip.open(path.with_name(path.name + ".gz"), "wb", compresslevel=1) as file:
        file.write(HEADER)
        for _ in range(lines):
            file.write(line)


def test_a_line_of_a_compressed_log_without_an_end_is_refused_at_its_bound(tmp_path: Path) -> None:
    bomb(tmp_path / "run.jsonl", b" " * (1 << 20), 200)
    tracemalloc.start()
    with pytest.raises(LogError, match=r"run.jsonl.gz:2: not a record of a run log: the line is longer than 16 MiB"):
        read(tmp_path / "run.jsonl")
    assert tracemalloc.get_traced_memory()[1] < 4 * reading.LONGEST_LINE
    tracemalloc.stop()


def test_many_lines_are_refused_at_the_bound_of_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LONGEST", 1 << 20)
    bomb(tmp_path / "run.jsonl", b"\n" * (1 << 16), 20)
    with pytest.raises(LogError, match=r"run.jsonl.gz:\d+: the log has more than 1 MiB up to this line"):
        read(tmp_path / "run.jsonl")


def test_a_log_whose_first_line_is_too_long_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.runner.log.header.LONGEST_LINE", 1000)
    path = tmp_path / "run.jsonl"
    path.write_bytes(HEADER[:-2] + b" " * 1000)
    header = Header(
        format=1, suites=(), spec_digest="", reference_digest="", seed=0, profile="default", examples=1, ops=(),
        started="", environment={}, backends=(),
    )  # fmt: skip
    with pytest.raises(LogError):
        kept_of(path, header, (), resume=True)
    assert path.exists()
