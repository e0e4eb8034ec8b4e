"""The page, the terminal, JUnit, Markdown and JSON of one run say the same numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conformance.cli import main
from conformance.report import ClauseText
from conformance.report.counts.tally import State
from conformance.report.evidence import clause_counts

BACKEND = """
import numpy as np
from conformance.backends.reference import Reference

class Odd(Reference):
    name, follows = "odd", ("jax",)

    def broadcast(self, blocks, **attributes):
        return [np.zeros_like(block) for block in blocks]

    def reduce_scatter(self, blocks, *, axis, **attributes):
        if axis < 0:
            raise ValueError("axis is negative")
        return self.__getattr__("reduce_scatter")(blocks, axis=axis, **attributes)
"""


@pytest.mark.slow  # a whole run, whose failures are made smaller
def test_all_forms_of_a_report_say_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Path("odd_backend.py").write_text(BACKEND)
    chosen = ["--op", "broadcast,reduce_scatter", "--suite", "collectives", "--examples", "12"]
    assert main(["run", "-b", "odd_backend:Odd", *chosen, "--in-process", "-o", "out"]) == 1
    said = capsys.readouterr().out
    report = json.loads(Path("out/report.json").read_text())
    (backend,) = report["backends"]
    cells = [cell for cell in report["cells"] if cell["clause"]]
    failing = [cell for cell in cells if cell["state"] == "fail"]
    assert backend["must"]["broken"] == len({cell["clause"] for cell in failing}) > 0
    assert "reduce_scatter.C4" in {cell["clause"] for cell in cells if cell["state"] == "differs"}
    assert numbers(Path("out/junit.xml")) == len(failing)
    shown = f"{backend['must']['held']} of {sum(backend['must'].values()) - backend['must']['known']}"
    for text in (Path("out/report.md").read_text(), flat(Path("out/index.html").read_text())):
        assert shown in text
        assert f"{backend['must']['broken']} of" in text
    for outcome, count in backend["outcomes"].items():
        assert f"{count} {outcome}" in flat(Path("out/index.html").read_text())
        assert re.search(rf"│ {count} +│", said), outcome
    assert sum(backend["outcomes"].values()) == backend["cases"]


def numbers(junit: Path) -> int:
    """Return how many clauses of operations fail or err."""
    cases: list[Any] = list(ElementTree.fromstring(junit.read_text()).iter("testcase"))
    return sum(each.find("failure") is not None or each.find("error") is not None for each in cases)


def flat(page: str) -> str:
    """Return the text of a page without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_a_must_clause_that_differs_with_a_followed_source_is_not_counted_as_broken(
    specification: tuple[ClauseText, ...],
) -> None:
    states: dict[str, State] = dict.fromkeys((text.id for text in specification), "pass")
    states[next(text.id for text in specification if text.requirement == "must")] = "differs"
    assert clause_counts("must", states, specification).broken == 0
    assert clause_counts("may", states, specification).broken == 1
