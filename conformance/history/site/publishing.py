"""A folder that is published whole, by one rename: a reader sees the pages of before or the new ones."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from conformance.cases.case_error import CaseError
from conformance.cases.whole_file import read_whole
from conformance.history.error import HistoryError

MARK: Final = "site.json"
"""Stands in a folder that was published, so that no other one is taken away."""

FORM: Final = '{"form":"mesh-conformance site 1"}\n'

_EXCHANGE: Final = 2
"""``RENAME_EXCHANGE`` of Linux."""

_HERE: Final = -100
"""``AT_FDCWD``: paths are from the working directory."""


@contextmanager
def published(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``folder``, which takes its place at the end; where an error is raised nothing does.

    Raise ``HistoryError`` where ``folder`` is there and was not published so.
    """
    folder = folder.absolute()
    check_own(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        yield fresh
        (fresh / MARK).write_text(FORM)
        fresh.chmod(0o755)  # mkdtemp makes folders private; a site is published
        check_own(folder)
        if not folder.exists():
            fresh.rename(folder)
        else:
            _exchange(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def check_own(folder: Path) -> None:
    """Raise ``HistoryError`` for a folder with something in it that is no published site."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise HistoryError(f"{folder} is no folder; name another one for the site")
    try:
        strange = folder.is_dir() and any(folder.iterdir()) and read_whole(folder / MARK, len(FORM)) != FORM.encode()
    except (OSError, CaseError):
        strange = True
    if strange:
        raise HistoryError(f"{folder} was not written by `conformance site`; move it, or name another folder")


def _exchange(fresh: Path, folder: Path) -> None:
    """Let two folders change places: at once where the system can, else with a moment between."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if rename is not None and rename(_HERE, os.fsencode(fresh), _HERE, os.fsencode(folder), _EXCHANGE) == 0:
        return
    aside = fresh.with_name(f"{fresh.name}-before")
    folder.rename(aside)
    fresh.rename(folder)
    shutil.rmtree(aside, ignore_errors=True)
