"""A judged process that takes the run's folder away, or fills the disk, keeps no verdict from being said."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults import run_folders
from tests.faults.fault import Fault

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a process is limited as on Linux")

TAKER = """
import os, shutil
import numpy as np
from conformance.backends.reference import Reference

class Taker(Reference):
    claims = {"broadcast": {}}
    def broadcast(self, blocks, **attributes):
        if HOW == "nothing" or os.path.exists("taken"):
            return [np.zeros_like(block) for block in blocks]
        open("taken", "w").close()
        shutil.rmtree("out")
        if HOW == "a file in its place":
            open("out", "w").close()
        if HOW == "a file below":
            os.mkdir("out"), open("out/cases", "w").close()
        if HOW == "folders in the place of its files":
            for name in ("run.jsonl", "index.html", "report.json", "badge-taker.svg"):
                os.makedirs("out/" + name + "/kept")
        return [np.zeros_like(block) for block in blocks]
"""


def ended(folder: Path, how: str, **more: Any) -> subprocess.CompletedProcess[str]:
    (folder / "taker.py").write_text(TAKER.replace("HOW", repr(how)))
    words = ["run", "-b", "taker:Taker", "--op", "broadcast", "--suite", "collectives", "--examples", "20", "-o", "out"]
    command = [sys.executable, "-m", "conformance", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **more)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.data[0], marks=() if fault.data[0] == "a file in its place" else pytest.mark.slow)
        for fault in run_folders.FOLDERS
    ],
)
def test_a_run_whose_folder_is_taken_away_says_what_it_came_to(fault: Fault, tmp_path: Path) -> None:
    (how,) = fault.data
    seen = ended(tmp_path, how)
    assert seen.returncode == 1
    assert "Traceback" not in seen.stderr
    assert "broadcast.C" in seen.stdout
    assert "run.jsonl was changed while the run went on; it was written again" in seen.stdout
    lines = (tmp_path / "out" / "run.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["type"] == "footer"
    assert (tmp_path / "out" / "index.html").is_file()
    assert ("cases" in seen.stdout and "could not be written" in seen.stdout) == (
        how in ("a file in its place", "a file below")
    )


def test_a_run_that_can_write_nothing_says_what_it_came_to_and_what_it_could_not_write(tmp_path: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))  # bytes of a file: what a full disk comes to

    seen = ended(tmp_path, "nothing", preexec_fn=limited)
    assert seen.returncode == 1, seen
    assert "Traceback" not in seen.stderr
    assert "broadcast.C" in seen.stdout
    for name in ("run.jsonl", "index.html"):
        assert f"out/{name} could not be written: File too large; the run fails" in seen.stdout, seen.stdout
