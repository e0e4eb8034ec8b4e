"""A slice of what ``nox -s fuzz`` does at length: whatever is read, the end is orderly."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.changes import BYTES, TREE, VALUES, changed_bytes, changed_tree, written
from tests.fuzz.guard import Ended, Finding, call, check
from tests.fuzz.inputs import ACTS, Input, content_of, inputs
from tests.fuzz.targets import JSON, PACKED

SLICE = settings(
    max_examples=12, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("name", ACTS)
def test_whatever_is_read_the_end_is_orderly(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    @SLICE
    @given(inputs)
    def every(one: Input) -> None:
        ACTS[name](one)

    every()


@pytest.mark.parametrize("change", sorted({*TREE} - {"exchange"}))
def test_every_change_of_a_tree_changes_some_tree(change: str) -> None:
    tree = {"a": [1, 2, {"b": "x"}], "c": 0.5}
    found = {written(changed_tree(tree, [(change, where, 3 * where)])) for where in range(60)}
    assert len(found) > 2
    assert tree == {"a": [1, 2, {"b": "x"}], "c": 0.5}


def test_an_exchange_puts_a_value_of_the_same_kind() -> None:
    assert changed_tree([1, "x", 2], [("exchange", 0, 1)]) == [2, "x", 2]


@pytest.mark.parametrize("change", BYTES)
def test_every_change_of_bytes_changes_them(change: str) -> None:
    assert changed_bytes(b"abcdefgh", [(change, 3, 5)]) != b"abcdefgh"


def test_all_values_can_be_written() -> None:
    for value in VALUES:
        assert written([value])


def test_a_changed_packed_log_is_packed() -> None:
    given: Input = (0, "tree", [("drop", 0, 0)], [])
    assert gzip.decompress(content_of(PACKED, gzip.compress(b'{"a":1}\n{"b":2}\n'), given)) == b'{"b": 2}\n'
    assert json.loads(content_of(JSON, b"[1, 2]", given)) == [2]


@pytest.mark.parametrize(
    "ended",
    [
        Ended(4, "x", ""),
        Ended(-11, "", ""),
        Ended(2, "", "conformance: a\nconformance: b\n"),
        Ended(2, "", ""),
        Ended(1, "x", "Traceback (most recent call last):\n"),
        Ended(0, "x", "a.py:1: RuntimeWarning: overflow\n"),
        Ended(0, "", ""),
    ],
)
def test_a_disorderly_end_is_a_finding(ended: Ended) -> None:
    with pytest.raises(Finding):
        check(ended)


def fail() -> None:
    raise OverflowError


def grow() -> None:
    bytearray(16 << 30)


def start() -> None:
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}), 0)


@pytest.mark.parametrize("act", [fail, grow, start])
def test_an_error_of_ours_memory_and_a_started_program_are_findings(act: object) -> None:
    with pytest.raises(Finding):
        call(act, (ValueError,))  # type: ignore[arg-type]
