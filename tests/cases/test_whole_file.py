from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.cases.case_error import CaseError
from conformance.cases.whole_file import read_whole


def refusal(path: Path, most: int = 100) -> str:
    with pytest.raises(CaseError) as caught:
        read_whole(path, most)
    return str(caught.value)


def test_a_file_is_read_up_to_the_limit_and_not_beyond_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a" * 100)
    assert read_whole(path, 100) == b"a" * 100
    assert refusal(path, 99) == "it has 100 bytes, over the limit of 99 bytes"


def test_what_is_read_stays_when_the_file_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a" * 8192)
    content = read_whole(path, 1 << 20)
    os.truncate(path, 0)
    assert content == b"a" * 8192


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_that_changes_its_length_meanwhile_is_refused(
    tmp_path: Path, change: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, fstat = tmp_path / "file", os.fstat

    def changed(descriptor: int) -> os.stat_result:
        status = fstat(descriptor)
        os.truncate(path, 50 + change)
        return status

    path.write_bytes(b"a" * 50)
    monkeypatch.setattr(os, "fstat", changed)
    assert refusal(path) == "it changed while it was read: it had 50 bytes"


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "a" * 5000, "nowhere", "."])
def test_a_name_of_no_file_is_one_line(tmp_path: Path, name: str) -> None:
    assert "\n" not in refusal(tmp_path / name)
