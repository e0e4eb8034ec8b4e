"""The workflow of continuous integration fits GitHub's schema, and runs sessions and slices that there are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILE = ROOT / ".github" / "workflows" / "conformance.yml"
TEXT = FILE.read_text()


def test_it_fits_the_schema_of_workflows() -> None:
    check = shutil.which("check-jsonschema") or shutil.which(
        "check-jsonschema", path=str(Path(__import__("sys").executable).parent)
    )
    if check is None:
        pytest.skip("check-jsonschema is not installed; the session lint has it")
    subprocess.run([check, "--builtin-schema", "vendor.github-workflows", str(FILE)], check=True)


def test_every_session_that_it_runs_is_one() -> None:
    sessions = set(re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(), re.MULTILINE))
    asked = {word for words in re.findall(r'nox -s "?([\w ]+)', TEXT) for word in words.split()}
    assert asked <= sessions
    assert {"conformance", "regress", "publish"} <= asked


def test_its_matrix_has_every_slice_once() -> None:
    count = int(re.findall(r'SLICES: "(\d+)"', TEXT)[0])
    listed = re.findall(r"slice: \[([\d, ]+)\]", TEXT)[0].split(", ")
    assert listed == [str(number) for number in range(1, count + 1)]


def test_nothing_that_a_stranger_writes_is_run() -> None:
    told = re.findall(r"\$\{\{[^}]*github\.(?:event\.|head_ref)[^}]*\}\}", TEXT)
    assert all("==" in one for one in told)
    assert "pull_request_target" not in TEXT
