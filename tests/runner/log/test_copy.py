"""The copy of a log, where nothing more can be written."""

from __future__ import annotations

import os
from io import BufferedRandom
from pathlib import Path

import pytest

from conformance.runner.log import copy


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_copy_on_a_full_disk_goes_without_another_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy, "TemporaryFile", full)
    made = copy.Copy(Path())
    made.write(os.urandom(1 << 10))
    made.end()
    del made


def full(*, dir: Path) -> BufferedRandom:
    del dir
    return Path("/dev/full").open("r+b")
