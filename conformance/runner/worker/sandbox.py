"""A worker in a sandbox: bubblewrap gives it processes, network and temporary files of its own, other files to read."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

PROGRAM: Final = "bwrap"

MISSING: Final = (
    f"{PROGRAM} is not installed: install bubblewrap (Debian: apt-get install bubblewrap); Linux alone has it"
)

_SEPARATE: Final = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
    "--die-with-parent", "--as-pid-1",
)  # fmt: skip

_EMPTY: Final = ("/tmp", "/var/tmp", "/run")  # noqa: S108 - they are covered, not used
"""Folders of which a worker gets empty ones of its own: temporary files, and the sockets of services of the host, by
which a process could be started outside."""

_SHOWN_AGAIN: Final = ("/run/opengl-driver", "/run/current-system", "/run/nvidia-persistenced")
"""What a driver needs below the empty folders: its libraries where a system has them there, and its service."""

_ACCELERATORS: Final = (
    "dri", "kfd", "nvidia*", "accel", "accel[0-9]*", "infiniband", "xpmem",
    "cxi*", "dxg", "davinci*", "devmm_svm", "hisi_hdc", "neuron*", "tenstorrent*",
    "hl*", "apex_*", "vfio",
)  # fmt: skip
"""Devices that are computed on; no other of the host is there."""

TEMPORARY: Final = "/tmp"  # noqa: S108 - the worker's own


def available() -> bool:
    """Return whether bubblewrap is installed; whether it works here only trying shows."""
    return shutil.which(PROGRAM) is not None


def cache_of(command: Sequence[str]) -> Path:
    """Return the folder, of this user, in which the backend of ``command`` alone keeps files from run to run."""
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256("\0".join(command).encode()).hexdigest()[:16]
    return (user / "mesh-conformance" / "sandbox" / name).absolute()


def wrapped(command: Sequence[str], folder: Path, cache: Path) -> list[str]:
    """Return what starts ``command`` in a sandbox in which ``folder`` and ``cache``, which are there, can be written.

    Inside ``/dev/shm`` is its own, ``lo`` is the one network, and there is no privilege.
    """
    words = [PROGRAM, *_SEPARATE, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for empty in _EMPTY:
        if Path(empty).is_dir() and not Path(empty).is_symlink():
            words += ["--tmpfs", empty]
    for device in sorted(str(path) for pattern in _ACCELERATORS for path in Path("/dev").glob(pattern)):
        words += ["--dev-bind", device, device]
    for shown in (*_SHOWN_AGAIN, *_needed(command)):
        words += ["--ro-bind-try", shown, shown]
    for written in (str(folder), str(cache)):
        words += ["--bind", written, written]
    words += ["--setenv", "TMPDIR", TEMPORARY, "--setenv", "XDG_CACHE_HOME", str(cache), "--chdir", str(Path.cwd())]
    return [*words, "--", *command]


def _needed(command: Sequence[str]) -> Iterator[str]:
    """Yield what a worker reads that lies in a folder which is empty inside: the interpreter's, the backend's."""
    named = (
        str(Path.cwd()), sys.prefix, sys.base_prefix, str(Path(__file__).parents[3]), *sys.path,
        *os.environ.get("PYTHONPATH", "").split(os.pathsep), *command,
    )  # fmt: skip
    # What is named outside may be a link to what lies inside: a clone in a temporary folder, or the interpreter of one.
    real = (os.path.realpath(path) for path in (sys.executable, *filter(None, named)))
    places = dict.fromkeys((*map(os.path.abspath, filter(None, named)), *real))
    shown = [path for path in places if path.startswith(_BELOW) and Path(path).exists()]
    # What lies in a shown folder comes with it, and nothing can be bound over a link there, as an interpreter often is.
    yield from (path for path in shown if not {*map(str, Path(path).parents)} & {*shown})


_BELOW: Final = tuple(f"{empty}/" for empty in _EMPTY)
