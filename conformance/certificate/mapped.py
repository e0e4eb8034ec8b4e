"""Which files the processes of a backend really have in memory, by their digests."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import psutil

from conformance.backends.discovery import BackendSpec
from conformance.runner.worker.code import files_of
from conformance.runner.worker.interface import Judgeable
from conformance.runner.worker.sandbox import PROGRAM


def mapped_files(worker: Judgeable) -> dict[str, str]:
    """Return the SHA-256 of each file that a process of a backend executes code of, by path, as far as that is told.

    Linux tells it; elsewhere it is empty. The files of the interpreter and of this suite are among them.
    """
    found: dict[str, str] = {}
    for process in worker.processes():
        with contextlib.suppress(OSError, psutil.Error):
            if process.name() == PROGRAM:  # the sandbox is none of the product
                continue
            for line in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines():
                words = line.split(maxsplit=5)
                if len(words) == 6 and "x" in words[1] and words[5].startswith("/"):
                    found.setdefault(words[5], "")
    return {path: digest for path in sorted(found) if (digest := _digest(path))}


def product_files(spec: BackendSpec, mapped: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return name and SHA-256 of the files of a product: those that its command or module names, and what it mapped.

    What an interpreter of ours maps whichever backend it runs is none of the product.
    """
    ours = {str(Path(sys.executable).resolve())}
    own = [(path.name, _digest(str(path))) for path in files_of(spec)]
    others = [(Path(path).name, digest) for path, digest in mapped if path not in ours]
    return tuple(sorted({*own, *others}))


@lru_cache(4096)
def _digest(path: str) -> str:
    with contextlib.suppress(OSError), Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
    return ""
