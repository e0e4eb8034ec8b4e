"""What tells one state of sources from another."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def digest_of(*packages: ModuleType) -> str:
    """Return the SHA-256 of the sources of packages.

    They are read once: a process goes on with what it has imported.
    """
    total = hashlib.sha256()
    for package in packages:
        folder = Path(str(package.__file__)).parent
        for file in sorted(folder.rglob("*.py")):
            total.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return total.hexdigest()
