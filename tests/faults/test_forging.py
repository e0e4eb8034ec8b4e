"""What a backend does to files and memory changes no verdict, and nothing of it outlives the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from conformance.runner.worker.sandbox_trial import why_no_sandbox
from tests.faults import run_folders
from tests.faults.fault import Fault

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has these means")

FORGER = """
import glob, os, sys
import numpy as np
from conformance.backends.reference import Reference

def forged(data):
    return data.replace(b'"failed"', b'"passed"').replace(b'not conformant', b'conformant')

def rewrite(path):
    try:
        with open(path, "r+b") as file:
            data = file.read()
            file.seek(0), file.truncate(), file.write(forged(data))
    except (OSError, ValueError):
        pass

class Forger(Reference):
    claims = {"broadcast": {}}
    def broadcast(self, blocks, **attributes):
        return [np.zeros_like(block) for block in blocks]
    def close(self):
        if "files" in HOW:
            # Of the runner and the supervisor alone: other processes of this user are none of the test's.
            stat = open(f"/proc/{os.getppid()}/stat").read()
            ancestors = {os.getppid(), int(stat.rpartition(")")[2].split()[1])} - {0}
            found = [path for each in ancestors for path in glob.glob(f"/proc/{each}/fd/*")]
            for path in [*found, *glob.glob("out/*")]:
                rewrite(path)
        if "removed" in HOW:
            os.system("rm -rf out")
        if "footer" in HOW:
            with open("out/run.jsonl", "ab") as log:
                log.write(b'{"type":"footer","finished":"now","seconds":1.0,"counts":{}}\\n')
        if "orphan" in HOW and os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 256)
                code = "import time; time.sleep(2); open('out/badge.json', 'w').write('conformant')"
                os.execve(sys.executable, [sys.executable, "-c", code, os.getcwd()], {})
            os._exit(0)
"""

COMMAND = (sys.executable, "-m", "conformance", "run", "--op", "broadcast", "--suite", "collectives", "-o", "out")


def running(folder: Path) -> list[psutil.Process]:
    """Return the processes that have the folder among their arguments."""
    return [each for each in psutil.process_iter(["cmdline"]) if str(folder) in " ".join(each.info["cmdline"] or ())]


@pytest.mark.parametrize("sandbox", [False, True])
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.data[0], marks=() if fault.data[0] == "files" else pytest.mark.slow)
        for fault in run_folders.ZEROS
    ],
)
def test_a_backend_of_zeros_never_passes(fault: Fault, sandbox: bool, tmp_path: Path) -> None:
    (how,) = fault.data
    if sandbox and (why := why_no_sandbox()):
        pytest.skip(why)
    (tmp_path / "forger.py").write_text(FORGER.replace("HOW", repr(how)))
    command = [*COMMAND, "-b", "forger:Forger", "--examples", "20", *(["--sandbox"] if sandbox else [])]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended
    touched = how != "orphan" and not sandbox
    assert ("run.jsonl was changed while the run went on" in ended.stdout) == touched, ended.stdout
    records = [json.loads(line) for line in (tmp_path / "out" / "run.jsonl").read_text().splitlines()]
    failed = sum(record.get("outcome") == "failed" for record in records if record["type"] == "case")
    assert failed
    assert records[-1]["counts"]["forger:Forger"]["failed"] == failed
    assert not running(tmp_path)


@pytest.mark.parametrize("sandbox", [False, True])
@pytest.mark.parametrize("seconds", [0.0, *(pytest.param(each, marks=pytest.mark.slow) for each in (0.03, 0.1)), 0.5])
def test_a_runner_that_is_killed_leaves_nothing_behind(seconds: float, sandbox: bool, tmp_path: Path) -> None:
    if sandbox and (why := why_no_sandbox()):
        pytest.skip(why)
    harness = Path(__file__).parent / "harness.py"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    named = f"exec:{sys.executable} {harness} hangs {tmp_path}"
    with subprocess.Popen(
        [*COMMAND, "-b", named, *(["--sandbox"] if sandbox else [])],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as runner:
        # Python tries a folder for temporary files with a file of its own, which a kill at that moment leaves.
        while not list(temporary.glob("conformance-*")):
            time.sleep(0.005)
        time.sleep(seconds)
        runner.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while (running(tmp_path) or list(temporary.glob("conformance-*"))) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not running(tmp_path)
    assert not list(temporary.glob("conformance-*"))


STRAYS = """
import os
from pathlib import Path
import numpy as np
from conformance.backends.reference import Reference

class Strays(Reference):
    claims = {"broadcast": {}}
    def close(self):
        out = Path("out")
        (out / "index.html").write_text("conformant")
        os.mkfifo(out / "report.json")
        (out / "badge-x.svg").mkdir()
        LOG
"""


@pytest.mark.parametrize("fault", run_folders.PLACES, ids=["40 GiB of holes", "a folder"])
def test_what_lies_in_the_place_of_log_and_report_is_replaced_and_named(fault: Fault, tmp_path: Path) -> None:
    (tmp_path / "strays.py").write_text(STRAYS.replace("LOG", fault.data[0]))
    command = [*COMMAND, "-b", "strays:Strays,reference", "--examples", "1"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert ended.returncode == 1, ended
    for name in ("run.jsonl", "index.html", "report.json", "badge-x.svg"):
        assert f"out/{name} was changed while the run went on" in ended.stdout, ended
    assert {backend["name"] for backend in json.loads((tmp_path / "out" / "report.json").read_text())["backends"]} == {
        "strays:Strays",
        "reference",
    }


def test_a_file_in_the_place_of_the_report_is_told_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "junit.xml").write_text("mine")
    ended = subprocess.run([*COMMAND, "-b", "reference"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended
    assert "out/junit.xml was not written by a report; move it" in ended.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["junit.xml"]
