"""Where a log lies: lines in a file, and once a run has ended and they are many, compressed beside it."""

from __future__ import annotations

import errno
import gzip
import shutil
from pathlib import Path
from typing import IO, Final, cast

LOG: Final = "run.jsonl"
"""The log in the folder of a run."""

LARGE: Final = 32 << 20
"""Bytes of a log from which it is compressed when its run has ended: some 80,000 records, 3 MB compressed."""

LEVEL: Final = 6
"""Of compression: 100,000 records of 38 MB become 3 MB in about a second."""


def packed(path: Path) -> Path:
    """Return where the log of ``path`` lies when it is compressed."""
    return path.with_name(f"{path.name}.gz")


def stored(path: Path) -> Path:
    """Return where the log of ``path`` lies: there, or compressed beside it."""
    return packed(path) if not path.exists() and packed(path).exists() else path


def opened(path: Path) -> IO[bytes]:
    """Open a log for reading, compressed or not; raise ``OSError`` where there is none, or none that ends."""
    where = stored(path)
    if where.exists() and not where.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file", str(where))
    return cast("IO[bytes]", gzip.open(where, "rb")) if where.suffix == ".gz" else where.open("rb")


def pack(path: Path, large: int = LARGE) -> None:
    """Compress a log that has ended and has ``large`` bytes or more; at no time is there none."""
    if not path.exists() or path.stat().st_size < large:
        return
    part = path.with_name(f"{path.name}.gz.part")
    part.unlink(missing_ok=True)
    with path.open("rb") as lines, gzip.open(part, "xb", compresslevel=LEVEL) as compressed:  # follows no link
        shutil.copyfileobj(lines, compressed)
    part.replace(packed(path))
    path.unlink()
