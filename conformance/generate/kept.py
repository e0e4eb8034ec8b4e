"""What is made once of this specification and its drawing, and kept on disk for other processes and later runs."""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

import ml_dtypes
import msgspec
import numpy as np

import conformance
from conformance import cases, generate, judging, reference, specs
from conformance.generate.sources import digest_of

T = TypeVar("T")

FOLDER: Final = "CONFORMANCE_CACHE"
"""The environment variable that names the folder of what is made once."""

LOOK: Final = 0.05
"""Seconds between looks at whether somebody else has made what is waited for."""

PATIENCE: Final = 20.0
"""Seconds that somebody else's making is waited for. Who was stopped meanwhile holds up nobody."""


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


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Keep others who ask for it from making something meanwhile, as far as the file system has locks.

    All locks are in one file, at a byte that follows from the name: two names of one byte wait for each other.
    """
    try:
        folder().mkdir(parents=True, exist_ok=True)
        held = os.open(folder() / "locks", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield
        return
    try:
        _lock(held, zlib.crc32(name.encode()))
        yield
    finally:
        os.close(held)


def _lock(held: int, byte: int) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except (BlockingIOError, PermissionError):
            time.sleep(LOOK)
        except OSError:
            return
        else:
            return


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
