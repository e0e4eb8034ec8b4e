"""The command that tests a fresh clone: what fails and then passes is named, counted, and no pass."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "run"

FLAKY = """
from pathlib import Path
def test_second():
    first = not Path("tried").exists()
    Path("tried").touch()
    assert not first
"""


@pytest.mark.parametrize(
    ("tests", "status", "told"),
    [
        ("def test_good(): pass", 0, None),
        (FLAKY, 1, "tests that passed on the second try, each a failure: 1"),
        ("def test_bad(): assert False", 1, "tests that passed on the second try, each a failure: 0"),
        (FLAKY + "def test_bad(): assert False", 1, "tests that passed on the second try, each a failure: 1"),
    ],
)
def test_a_test_that_passes_on_its_second_try_fails_the_run(
    tmp_path: Path, tests: str, status: int, told: str | None
) -> None:
    for name, line in {".venv/bin/pip": "exit 0", ".venv/bin/python": f'exec "{sys.executable}" "$@"'}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to("/bin/true")
    (tmp_path / ".ci").mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci" / "run")
    (tmp_path / "test_it.py").write_text(tests)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    ran = subprocess.run(
        [tmp_path / ".ci" / "run"],
        env={"PATH": f"{tmp_path / 'bin'}:/bin:/usr/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == status, ran.stdout + ran.stderr
    assert told is None or ran.stdout.splitlines()[-1] == told
    assert ("flaky, passed on the second try: test_it.py::test_second" in ran.stdout) == ("test_second" in tests)
