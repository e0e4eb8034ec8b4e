"""What is made once of this specification and its drawing, and kept on disk for other processes and later runs."""

from __future__ import annotations

import hashlib
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import ml_dtypes
import msgspec
import numpy as np

import conformance
from conformance import cases, generate, judging, reference, specs
from conformance.runner.log.sources import digest_of

T = TypeVar("T")

FOLDER: Final = "CONFORMANCE_CACHE"
"""The environment variable that names the folder of what is made once."""


def kept(name: str, kind: type[T], make: Callable[[], T]) -> T:
    """Return what ``make`` makes, from disk where this specification has made it before."""
    had = found(name, kind)
    if had is None:
        keep(name, had := make())
    return had


def found(name: str, kind: type[T]) -> T | None:
    """Return what was kept by a name, ``None`` where nothing was, or only a part of it."""
    try:
        return msgspec.json.decode(zlib.decompress((folder() / f"{name}.zlib").read_bytes()), type=kind)
    except (OSError, zlib.error, msgspec.MsgspecError):
        return None


def keep(name: str, made: object) -> None:
    """Keep something on disk, where others find it once all of it is there."""
    path = folder() / f"{name}.zlib"
    beside = path.with_suffix(f".{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    beside.write_bytes(zlib.compress(msgspec.json.encode(made), 1))
    beside.replace(path)


def folder() -> Path:
    """Return where it is kept: below the user's cache, or below what the environment names.

    What is made of other sources, and by other versions of what computes, lies in other folders.
    """
    base = os.environ.get(FOLDER) or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mesh-conformance"
    )
    sources = (digest_of(cases, judging, specs), digest_of(reference), digest_of(generate))
    versions = (conformance.__version__, np.__version__, ml_dtypes.__version__, sys.version)
    return Path(base, hashlib.sha256("\0".join((*sources, *versions)).encode()).hexdigest()[:16])
