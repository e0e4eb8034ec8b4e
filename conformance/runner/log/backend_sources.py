"""Which revision of a backend was judged, where it is none of ours: a digest of its files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from conformance.backends.discovery import BackendError, BackendSpec, find, target_of

SOURCES: Final = "sources of "
"""What an environment calls the digest, before the name of the backend."""

MOST_BYTES: Final = 64 << 20
"""Bytes of one backend that are read; of files beyond them path, size and time count, so that a large one costs little.

A package of 64 MiB takes 0.2 s."""


def backend_sources(names: Iterable[str]) -> dict[str, str]:
    """Return a digest of the files of each backend that is none of ours, by what an environment calls it.

    Of a Python backend they are those of its package, or its module; of another program those that its command names.
    """
    found = {name: _digest(_files(name)) for name in names if not is_ours(name)}
    return {f"{SOURCES}{name}": digest for name, digest in found.items() if digest}


def is_ours(name: str) -> bool:
    """Return whether a backend is one of this suite, of which an environment has the digest anyway."""
    return (target_of(name) or name).startswith("conformance.")


def _files(name: str) -> list[Path]:
    try:
        spec = find(name)
    except BackendError:
        return []
    return sorted(_of_target(spec.target) if spec.target else _of_command(spec))


def _of_target(target: str) -> Iterator[Path]:
    top = target.partition(":")[0].partition(".")[0]
    found: ModuleSpec | None = find_spec(top) or PathFinder.find_spec(top, [str(Path.cwd())])
    if found is None:
        return
    for folder in found.submodule_search_locations or ():
        yield from (file for file in Path(folder).rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    if found.origin is not None and not found.submodule_search_locations and Path(found.origin).is_file():
        yield Path(found.origin)


def _of_command(spec: BackendSpec) -> Iterator[Path]:
    yield from (Path(word) for word in spec.command if Path(word).is_file())


def _digest(files: list[Path]) -> str | None:
    """Return the beginning of a SHA-256, or ``None`` of no file."""
    total, room = hashlib.sha256(), MOST_BYTES
    for file in files:
        try:
            about = file.stat()
            total.update(f"{file.name}\0{about.st_size}\0".encode())
            total.update(file.read_bytes() if about.st_size <= room else str(about.st_mtime_ns).encode())
        except OSError:
            return None
        room -= min(about.st_size, room)
    return total.hexdigest()[:16] if files else None
