"""What a worker can reach, of root and of another user, in a sandbox and not."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from conformance.runner.worker.sandbox_trial import why_no_sandbox
from tests.faults.fault import Fault
from tests.faults.reach import DEPENDS, TABLE

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone can be asked for all this")

HERE = Path(__file__).parent
NOBODY = 65534


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """Yield a folder that everybody can write, not below one that is closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="reach-"))
    folder.chmod(0o777)
    shutil.copy(HERE / "reaching.py", folder)
    yield folder
    shutil.rmtree(folder)


@cache
def tried(place: Path, user: int, *, sandbox: bool) -> dict[str, str]:
    """Return what the backend could do, by attempt."""
    folder = place / f"{user}-{sandbox}"
    folder.mkdir()
    secret = folder / "file"
    secret.write_text("theirs")
    ours, terminal = os.openpty()
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as service:
        service.bind(f"\0conformance-{os.getpid()}-{user}-{sandbox}")
        service.listen()
        told = {
            "REACH_FILE": str(secret), "REACH_PORT": str(port.getsockname()[1]), "REACH_TERMINAL": os.ttyname(terminal),
            "REACH_SERVICE": f"conformance-{os.getpid()}-{user}-{sandbox}", "REACH_TMP": str(folder),
            "TMPDIR": str(folder), "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"),
        }  # fmt: skip
        if user != os.geteuid():
            for owned in (folder, secret, Path(os.ttyname(terminal))):
                os.chown(owned, user, -1)
        command = [sys.executable, "-m", "conformance", "run", "-b", "reference,reaching:Reaching", "--op", "broadcast",
                   "--suite", "collectives", "--examples", "2", "-o", str(folder / "run")]  # fmt: skip
        command += ["--sandbox"] if sandbox else []
        subprocess.run([*as_user(user), *command], cwd=place, env=os.environ | told, check=False)
    os.close(ours)
    os.close(terminal)
    header = json.loads((folder / "run" / "run.jsonl").read_text().splitlines()[0])
    assert header["environment"]["sandbox"] == ("bubblewrap" if sandbox else "none")
    return dict(next(one["description"] for one in header["backends"] if one["name"] != "reference"))


def closed_folder() -> Path | None:
    """Return the folder above the interpreter that other users cannot enter, if there is one."""
    return next((each for each in Path(sys.base_prefix).parents if not each.stat().st_mode & 0o001), None)


def as_user(user: int) -> list[str]:
    """Return what starts a command as another user, who is shown an interpreter that lies in a closed folder."""
    if user == os.geteuid():
        return []
    base, closed = Path(sys.base_prefix), closed_folder()
    below = str(closed / base.relative_to(closed).parts[0]) if closed else ""
    shown = ["bwrap", "--dev-bind", "/", "/", "--cap-add", "ALL", "--tmpfs", str(closed), "--ro-bind", below, below]
    return [*(shown if closed else []), "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]


@pytest.fixture(scope="module", params=["same user", "nobody"])
def user(request: pytest.FixtureRequest) -> int:
    if request.param == "same user":
        return os.geteuid()
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can start a run as another user, and setpriv does it")
    if closed_folder() and not shutil.which("bwrap"):
        pytest.skip("another user cannot enter the interpreter's folder, and bubblewrap, which shows it, is missing")
    asked = subprocess.run([*as_user(NOBODY), sys.executable, "-c", "import conformance.cli"], cwd="/", check=False)
    if asked.returncode:
        pytest.skip("another user cannot read this environment")
    return NOBODY


@pytest.mark.parametrize("fault", TABLE.faults, ids=[fault.data[0] for fault in TABLE.faults])
def test_without_a_sandbox(fault: Fault, place: Path, user: int) -> None:
    name, without, _ = fault.data
    seen = tried(place, user, sandbox=False)[name]
    assert without == DEPENDS or seen.partition(",")[0] == without, seen


@pytest.mark.parametrize("fault", TABLE.faults, ids=[fault.data[0] for fault in TABLE.faults])
def test_in_a_sandbox(fault: Fault, place: Path, user: int) -> None:
    if why := why_no_sandbox():
        pytest.skip(why)
    name, _, within = fault.data
    assert tried(place, user, sandbox=True)[name].partition(",")[0] == within
