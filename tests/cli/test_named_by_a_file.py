"""A backend that only a file names is neither started nor imported, and no file of its folder stands for a module."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cases.case import Case
from conformance.cases.codec import save
from tests.cli.conftest import Conformance

ONE = ("--op", "broadcast", "--examples", "5", "--suite", "collectives")
MINE = 'from pathlib import Path\nPath("ran").touch()\nfrom conformance.backends.reference import Reference as Evil\n'
FOREIGN = (
    "exec:touch ran",
    "exec:sh -c 'touch ran'",
    "evil:Evil",
    "./evil",
    "nosuch",
    "evil.py:Evil",
    "\x1b[2Jevil",
    "..",
)


@pytest.fixture
def handed_in(earlier: Conformance, wrong: str) -> str:
    """Return the name of a backend that is in the run, with failures and their report, in the folder ``out``."""
    assert earlier("-b", wrong, *ONE, "--in-process").status == 1
    Path("evil.py").write_text(MINE)
    Path("evil").write_text("#!/bin/sh\ntouch ran\n")
    Path("evil").chmod(0o755)
    return wrong


def rename(old: str, new: str) -> None:
    for path in (Path("out/run.jsonl"), Path("out/report.json")):
        path.write_text(path.read_text().replace(json.dumps(old), json.dumps(new)))


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("words", [("run", "--failed", "out"), ("reproduce", "out"), ("reproduce", "out/report.json")])
def test_what_a_file_alone_names_is_not_started(
    conformance: Conformance, handed_in: str, words: tuple[str, ...], name: str
) -> None:
    rename(handed_in, name)
    ended = conformance(*words)
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "say with -b NAME which backend is meant" in ended.err
    assert "\x1b" not in ended.err
    assert not Path("ran").exists()


def test_an_installed_backend_is_taken_at_the_word_of_a_file(conformance: Conformance, handed_in: str) -> None:
    rename(handed_in, "reference")
    ended = conformance("run", "--failed", "out")
    assert (ended.status, "passes now" in ended.out) == (0, True), ended


@pytest.mark.parametrize("name", ["exec:touch ran", "evil:Evil"])
def test_going_on_with_a_run_and_its_known_failures_start_nothing(
    conformance: Conformance, handed_in: str, name: str
) -> None:
    rename(handed_in, name)
    terms = ("--issue", "https://example.org/1", "--owner", "me", "--expiry", "2999-01-01")
    conformance("known", "out", "-o", "known.json", *terms)
    conformance("run", "--known", "known.json", "-b", "reference", *ONE, "-o", "other", "--in-process")
    conformance("run", "--resume", "-o", "out", "-b", "reference", *ONE, "--in-process")
    conformance("report", "out")
    assert not Path("ran").exists()


@pytest.mark.parametrize("where", ["../elsewhere.json", "/etc/passwd", "cases/../../x.json", "a\x00b", "out.json\n"])
def test_a_report_names_no_file_outside_its_folder(conformance: Conformance, handed_in: str, where: str) -> None:
    report = json.loads(Path("out/report.json").read_text())
    for one in report["findings"]:
        one["script"] = where
    Path("out/report.json").write_text(json.dumps(report))
    for again in ((), ("--run",)):
        ended = conformance("reproduce", "out", "-b", handed_in, *again)
        assert (ended.status, ended.err.count("\n"), "is no file of the report" in ended.err) == (2, 1, True), ended


def test_a_file_of_the_folder_stands_for_no_module_of_an_installed_backend(case: Case, tmp_path: Path) -> None:
    for module in ("numpy", "json", "msgspec", "ml_dtypes"):
        (tmp_path / f"{module}.py").write_text('open("ran", "w")\n')
    save(case, tmp_path / "case.json")
    main = "import sys; from conformance.cli import main; sys.exit(main(['replay', 'case.json', '-b', 'reference']))"
    done = subprocess.run([sys.executable, "-P", "-c", main], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, (tmp_path / "ran").exists()) == (0, False), done.stdout + done.stderr


def test_a_class_of_the_folder_is_taken_where_a_person_named_it(conformance: Conformance, case: Case) -> None:
    save(case, Path("case.json"))
    Path("mine_alone.py").write_text("from conformance.backends.reference import Reference as Mine\n")
    assert conformance("replay", "case.json", "-b", "mine_alone:Mine").status == 0
