from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from conformance.cases.case import Case
from conformance.cases.codec import save
from conformance.cli import main
from conformance.runner.smoke import example_case
from conformance.specs import OPS

WRONG = """
from conformance.backends.reference import Reference

class Wrong(Reference):
    name = "wrong"

    def broadcast(self, blocks, *, root, groups):
        return list(blocks)
"""


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Conformance = Callable[..., Ended]


@pytest.fixture
def conformance(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Conformance:
    """Return the command line, run in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Ended:
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ended(status, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def runs() -> dict[tuple[object, ...], tuple[Ended, Path]]:
    """Return how runs ended and where they are, by their words."""
    return {}


@pytest.fixture
def earlier(
    conformance: Conformance,
    runs: dict[tuple[object, ...], tuple[Ended, Path]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Conformance:
    """Return what puts a run into the folder ``out``; one of the same words is made once for all tests."""

    def call(*words: object) -> Ended:
        if words in runs:
            shutil.copytree(runs[words][1], "out")
        else:
            runs[words] = conformance("run", *words, "-o", "out"), tmp_path_factory.mktemp("run") / "out"
            shutil.copytree("out", runs[words][1])
        return runs[words][0]

    return call


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Return the name of a backend whose broadcast sends nothing."""
    (tmp_path / "wrong_vendor.py").write_text(WRONG)
    monkeypatch.syspath_prepend(tmp_path)
    return "wrong_vendor:Wrong"


@pytest.fixture
def case() -> Case:
    """Return the worked example of broadcast."""
    return example_case("broadcast", OPS["broadcast"].examples[0])


@pytest.fixture
def case_file(case: Case, tmp_path: Path) -> Path:
    """Return the file of that example."""
    save(case, tmp_path / "case.json")
    return tmp_path / "case.json"
