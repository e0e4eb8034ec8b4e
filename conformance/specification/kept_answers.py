"""The answers of ``conformance spec``, kept in the user's cache: they take half a second to make, and 20 ms to read.

They are made again when a file of what they are made of has changed. Nothing here imports NumPy or the specification.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

FOLDER: Final = "CONFORMANCE_SPEC_CACHE"
"""The environment variable that names another folder, or ``off``."""

OFF: Final = "off"

ROOMS: Final = ("cases", "judging", "qualification", "reference", "runner/dialects", "specification", "specs")
"""Folders that the answers are made of."""

_PACKAGE: Final = Path(__file__).parents[1]


def kept_answers(make: Callable[[], dict[str, Any]], environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return the answers, read where they are kept and still true, else made by ``make`` and kept."""
    place = _place(environ)
    if place is not None:
        with suppress(OSError, msgspec.MsgspecError):
            return _decoded(place.read_bytes())
    made = msgspec.json.encode(make())
    if place is not None:
        with suppress(OSError):  # a cache that cannot be written is none
            _keep(place, made)
    return _decoded(made)


def _decoded(text: bytes) -> dict[str, Any]:
    return msgspec.json.decode(text, type=dict[str, Any])


def _place(environ: Mapping[str, str]) -> Path | None:
    named = environ.get(FOLDER)
    if named == OFF:
        return None
    try:
        base = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # nobody's home
        return None
    folder = Path(named) if named else base / "mesh-conformance" / "spec"
    return folder / f"{_digest()}.json"


def _digest() -> str:
    """Return what tells this state of the sources from any other: names, sizes and times of their files."""
    made = hashlib.sha256()
    for room in ROOMS:
        for name, size, time in sorted(_files(_PACKAGE / room)):
            made.update(f"{name}\0{size}\0{time}\n".encode())
    return made.hexdigest()[:24]


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _files(Path(entry.path))
            elif entry.name.endswith((".py", ".json")):
                stat = entry.stat()
                yield entry.path, stat.st_size, stat.st_mtime_ns


def _keep(place: Path, made: bytes) -> None:
    """Write the answers, and remove those of other states; whoever reads meanwhile finds one or the other."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(made)
    part.replace(place)
    for other in place.parent.glob("*.json"):
        if other != place:
            other.unlink(missing_ok=True)
