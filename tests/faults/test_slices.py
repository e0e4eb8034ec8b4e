"""A worker that rewrites the slices of a run that have ended changes no verdict, and is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has these means")

FORGER = """
import os, subprocess, sys, time
import numpy as np
from conformance.backends.reference import Reference

LATER = '''
import glob, time
for _ in range(600):
    for path in glob.glob("out/slices/*/run.jsonl"):
        data = open(path, "rb").read()
        if b'"type":"footer"' in data and b'"failed"' in data:
            open(path, "wb").write(data.replace(b'"failed"', b'"passed"'))
            open("forged", "w").close()
    time.sleep(0.01)
'''

class Forger(Reference):
    claims = {"broadcast": {}}
    def broadcast(self, blocks, **attributes):
        if FORGES and not getattr(self, "begun", False):
            self.begun = True
            subprocess.Popen([sys.executable, "-c", LATER])
        return [np.zeros_like(block) for block in blocks]
    def close(self):
        end = time.monotonic() + 2.5  # of the three seconds that it is given to end
        while FORGES and not os.path.exists("forged") and time.monotonic() < end:
            time.sleep(0.02)
"""


@pytest.mark.parametrize("forges", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_what_a_slice_wrote_counts_whatever_its_file_has_later(forges: bool, tmp_path: Path) -> None:
    (tmp_path / "forger.py").write_text(FORGER.replace("FORGES", repr(forges)))
    command = [sys.executable, "-m", "conformance", "run", "-b", "forger:Forger", "--op", "broadcast"]
    command += ["--suite", "collectives", "--examples", "6", "--jobs", "2", "-o", "out"]
    seen = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert seen.returncode == 1, seen
    assert "Traceback" not in seen.stderr
    assert "forger:Forger broadcast.C" in seen.stdout + seen.stderr, seen
    assert ("what its slice wrote counts, and the run fails" in seen.stdout) == forges, seen.stdout
    assert "rest in part on files" not in (tmp_path / "out" / "report.json").read_text()
