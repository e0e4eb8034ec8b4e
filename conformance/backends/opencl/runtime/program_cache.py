"""Built programs on disk, so that another process need not build them again.

A file is written beside its place and moved there whole, so that writers at the same time do each other no harm and
nobody waits: pyopencl's own cache has a lock, which a process that is killed leaves behind, and whoever comes later
waits for it for a minute. A file that was cut, or is of another machine, is built anew: it begins with the digest of
the rest, and its name is that of the source, the options, the devices and their driver.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

FOLDER: Final = "CONFORMANCE_OPENCL_CACHE"
"""The variable that names the folder, ``OFF`` for none."""

OFF: Final = "off"

MOST_BYTES: Final = 256 * 2**20
"""Bytes from which the least recently written half is removed: a default run of all suites writes about 20 MiB."""

_DIGEST: Final = 32


def folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return where built programs are kept: below the user's cache, where the environment says, or nowhere."""
    named = environ.get(FOLDER)
    if named == OFF:
        return None
    return Path(named or Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mesh-conformance", "opencl"))


def size(of: Path) -> int:
    """Return how many bytes the files below a folder have; those that somebody removes meanwhile count nothing."""
    return sum(length for _, length, _ in _files(of))


def digest(parts: Iterable[str]) -> str:
    """Return the name of what several texts identify together."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def features() -> str:
    """Return what the CPU can do, as Linux says it: a name may stand for CPUs of which one can do more."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return ""


class ProgramCache:
    """The programs of devices that ``machine`` tells from all others; a kernel is found in whichever has it."""

    def __init__(self, machine: Sequence[str], below: Path | None) -> None:
        """Keep programs in a folder of their own ``below`` another, or nowhere."""
        self._below = below
        self._folder = None if below is None else below / digest(machine)
        self._room: int | None = None

    @property
    def on(self) -> bool:
        """Whether anything is kept."""
        return self._folder is not None

    def find(self, program: str) -> list[bytes] | None:
        """Return the binaries of a program, one a device or one for all; ``None`` where they are not there whole."""
        if self._folder is None:
            return None
        with suppress(OSError, msgspec.MsgspecError):
            content = (self._folder / f"{program}.program").read_bytes()
            if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
                return msgspec.msgpack.decode(content[_DIGEST:], type=list[bytes])
        return None

    def program_of(self, kernel: str) -> str | None:
        """Return the name of the program that was kept last with a kernel in it."""
        if self._folder is None:
            return None
        with suppress(OSError, UnicodeDecodeError):
            return (self._folder / f"{kernel}.kernel").read_text("ascii")
        return None

    def keep(self, program: str, binaries: Sequence[bytes], kernels: Iterable[str] = ()) -> None:
        """Keep a program, and that these kernels are in it; what all devices have alike is kept once.

        A disk that is full or not to be written keeps nothing.
        """
        if self._folder is None or self._below is None:
            return
        content = msgspec.msgpack.encode(list(binaries if len(set(binaries)) > 1 else binaries[:1]))
        with suppress(OSError):
            self._make_room(len(content))
            self._folder.mkdir(parents=True, exist_ok=True)
            self._write(f"{program}.program", hashlib.sha256(content).digest() + content)
            for kernel in kernels:
                self._write(f"{kernel}.kernel", program.encode())

    def _write(self, name: str, content: bytes) -> None:
        assert self._folder is not None  # ``keep`` has looked
        beside = self._folder / f"{name}.{os.getpid()}"
        beside.write_bytes(content)
        beside.replace(self._folder / name)

    def _make_room(self, wanted: int) -> None:
        """Remove the files that were written first where there is too much; what is there is counted once a process."""
        assert self._below is not None  # ``keep`` has looked
        self._room = MOST_BYTES - size(self._below) if self._room is None else self._room
        self._room -= wanted
        if self._room >= 0:
            return
        for _, length, path in sorted(_files(self._below)):
            if self._room >= MOST_BYTES // 2:
                break
            path.unlink(missing_ok=True)
            self._room += length


def _files(of: Path) -> list[tuple[float, int, Path]]:
    """Return the files below a folder: when each was written, and its bytes."""
    found: list[tuple[float, int, Path]] = []
    for path in of.glob("*/*"):
        with suppress(OSError):
            state = path.stat()
            found.append((state.st_mtime, state.st_size, path))
    return found
