"""Slices that do not belong together are named, and what a file alone names is not started."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from tests.faults import foreign, slices
from tests.faults.fault import Fault
from tests.faults.test_files import ended, folder, one_line

__all__ = ["folder"]

RUN = ["run", "--op", "broadcast", "--suite", "collectives"]
WRONG = "from pathlib import Path\nfrom conformance.backends.reference import Reference\n\n\nclass Wrong(Reference):\n"
BROADCAST = "    def broadcast(self, blocks, **rest):\n        return list(blocks)\n"
RAN = 'from pathlib import Path\nPath("ran").touch()\nfrom conformance.backends.reference import Reference as Evil\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two slices of a run of the reference, one of a wrong backend, and a run of that."""
    here = tmp_path_factory.mktemp("made")
    (here / "wrong_one.py").write_text(WRONG + BROADCAST)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.syspath_prepend(str(here))
        for at in ("1", "2"):
            main([*RUN, "-b", "reference", "--examples", "20", "--slice", f"{at}/2", "-o", at, "--in-process"])
        bad = [*RUN, "-b", "wrong_one:Wrong", "--examples", "5", "--in-process"]
        main([*bad, "--slice", "1/1", "-o", "slice"])
        main([*bad, "-o", "out"])
    return here


def marks(faults: tuple[Fault, ...]) -> Any:
    return pytest.mark.parametrize("fault", faults, ids=[fault.done for fault in faults])


@marks(slices.TABLE.faults)
def test_a_slice(made: Path, folder: Path, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("1", "2"):
        shutil.copytree(made / name, folder / name)
    fault.data[0](folder / "1", folder / "2")
    one_line(ended(capsys, "merge", "1", "2", "-o", "merged", "--in-process"), fault)
    assert not (folder / "merged").exists()


@pytest.mark.parametrize("name", ["exec:touch ran", "evil:Evil"])
@marks(foreign.TABLE.faults)
def test_what_a_file_names(
    made: Path,
    folder: Path,
    fault: Fault,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words, status, _ = fault.data
    (folder / "evil.py").write_text(RAN)
    for place in ("out", "slice"):
        shutil.copytree(made / place, folder / place)
        for path in (folder / place).glob("r*.json*"):
            path.write_text(path.read_text().replace('"wrong_one:Wrong"', f'"{name}"'))
    seen = ended(capsys, *words.split())
    if status is not None:
        one_line(seen, fault, status)
    assert "Traceback" not in seen[2]
    assert not (folder / "ran").exists()
