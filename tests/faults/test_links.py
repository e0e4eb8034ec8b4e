"""Nothing is written through a link that lies in a folder that was handed in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.faults import links
from tests.faults.fault import Fault
from tests.faults.test_files import ended, folder
from tests.faults.test_foreign import made, marks

__all__ = ["folder", "made"]


def linked(place: Path, name: str, elsewhere: Path, *, there: bool) -> None:
    """Put links to files elsewhere in the place of what has this name; what is ``there`` is as it was here."""
    for path in [*place.glob(name)] if "*" in name else [place / name]:
        other = elsewhere / path.name
        if there and path.exists():
            path.rename(other)
        elif there:
            other.write_text("theirs")
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.symlink_to(other)


@pytest.mark.parametrize("there", [True, False], ids=["to what is there", "to nothing"])
@marks(links.TABLE.faults)
def test_what_a_link_names_is_not_written(
    made: Path, folder: Path, fault: Fault, there: bool, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    words, names = fault.data
    monkeypatch.syspath_prepend(str(made))
    for place in ("out", "before"):
        shutil.copytree(made / "out", folder / place)
    log = folder / "out" / "run.jsonl"
    if words.startswith("run"):
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:4]))
    (folder / "elsewhere").mkdir()
    for name in names:
        linked(folder / "out", name, folder / "elsewhere", there=there)
    before = content(folder / "elsewhere")
    status, _, said = ended(capsys, *words.split())
    assert status in range(4)
    assert "Traceback" not in said
    assert content(folder / "elsewhere") == before


def content(place: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder."""
    return {os.path.relpath(path, place): path.read_bytes() for path in place.rglob("*") if path.is_file()}
