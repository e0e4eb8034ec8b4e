"""A plug-in of pytest: run chosen tests in their order, and note of each its name while it runs and how it ended."""

from __future__ import annotations

import builtins
import json
import os
from pathlib import Path
from typing import Final

import pytest

CHOSEN: Final = "CONFORMANCE_CHOSEN_TESTS"
"""Names a JSON file with the names of the tests that are run, in their order; without it all are."""

NOTES: Final = "CONFORMANCE_TEST_NOTES"
"""Names the folder of the notes: ``now`` holds the name of the test that runs, ``ended`` a line of each that ran."""

SEEN: Final = "_conformance_came"
"""The built-in set of what this process came to since its test began."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not chosen, and put the others in their order."""
    if path := os.environ.get(CHOSEN):
        order = {name: at for at, name in enumerate(json.loads(Path(path).read_text(encoding="utf-8")))}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in order])
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


def pytest_runtest_logstart(nodeid: str) -> None:
    """Note which test runs."""
    vars(builtins)[SEEN] = set()
    if folder := os.environ.get(NOTES):
        Path(folder, "now").write_text(nodeid, encoding="utf-8")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note how a part of a test ended, and the seconds that it took."""
    if folder := os.environ.get(NOTES):
        with Path(folder, "ended").open("a", encoding="utf-8") as file:
            file.write(json.dumps([report.nodeid, report.outcome, report.duration]) + "\n")
