"""The code of a backend as it was when its first process started: what is changed after that is another backend."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from conformance.backends.discovery import BackendSpec


class Code:
    """The files of a backend that can be found without running it; the first look says what is in them."""

    def __init__(self, spec: BackendSpec) -> None:
        """Look at nothing yet."""
        self._spec = spec
        self._first: dict[Path, str] = {}

    def changed(self) -> str:
        """Return the name of a file that is not what it was at the first look, or ``""``."""
        if not self._first:
            self._first = {path: _digest(path) for path in files_of(self._spec)}
        return next((path.name for path, digest in self._first.items() if _digest(path) != digest), "")


def files_of(spec: BackendSpec) -> tuple[Path, ...]:
    """Return the module of a backend, of a package all its modules, or the files that a command names."""
    if spec.target is None:
        return tuple(path for path in map(Path, spec.command) if path.is_file())
    found = _module(spec.target.partition(":")[0].split("."))
    if found is None or found.origin is None:
        return ()
    folders = found.submodule_search_locations
    return (Path(found.origin),) if folders is None else tuple(sorted(_sources(folders)))


def _module(names: list[str]) -> ModuleSpec | None:
    """Return where a module is; nothing of it or of its packages is imported."""
    found = find_spec(names[0]) or PathFinder.find_spec(names[0], [str(Path.cwd())])
    for number in range(2, len(names) + 1):
        folders = None if found is None else found.submodule_search_locations
        found = None if folders is None else PathFinder.find_spec(".".join(names[:number]), folders)
    return found


def _sources(folders: list[str]) -> Iterator[Path]:
    for folder in folders:
        yield from Path(folder).rglob("*.py")


def _digest(path: Path) -> str:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
    return ""
