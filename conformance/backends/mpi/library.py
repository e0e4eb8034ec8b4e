"""Which MPI library mpi4py loads, and how its launcher starts ranks; the library is not initialised.

``python -m conformance.backends.mpi.library RANKS`` prints the launch as JSON, for a program of another environment.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

import msgspec

CROWDED: Final = 2
"""Ranks a core above which those that wait sleep a little: MPICH's spin otherwise, and an all_reduce over 8 ranks on
two busy cores takes 13 ms instead of 1; with 4 ranks on two idle ones it would take 0.7 ms instead of 0.1."""


LAUNCH: Final = "CONFORMANCE_MPI_LAUNCH"
"""The variable with the user's own launcher, ``{ranks}`` for how many: ``srun -n {ranks}``. Hosts are its business."""

MEET: Final = "CONFORMANCE_MPI_MEET"
"""The variable with an address of this machine, by which ranks on other hosts reach it."""


@dataclass(frozen=True)
class Implementation:
    """An implementation of MPI: the ``vendor`` that mpi4py says it is of, its wheel, and how ranks are started.

    ``options`` are of its ``mpiexec``. ``always``, ``crowded`` (more than ``CROWDED`` ranks a core) and ``root`` (where
    the user is root) are environment variables of launcher and ranks.
    """

    vendor: str
    wheel: str
    options: tuple[str, ...] = ()
    always: Mapping[str, str] = field(default_factory=dict)
    crowded: Mapping[str, str] = field(default_factory=dict)
    root: Mapping[str, str] = field(default_factory=dict)


IMPLEMENTATIONS: Final[dict[str, Implementation]] = {
    "mpich": Implementation("MPICH", "mpich", crowded={"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}),
    "openmpi": Implementation(
        "Open MPI",
        "openmpi",
        # It refuses to start more ranks than there are cores, and to start any for root, unless told to.
        options=("--oversubscribe",),
        root={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        crowded={"OMPI_MCA_mpi_yield_when_idle": "1"},
    ),
    # All ranks are on this machine, and need no network.
    "intel": Implementation("Intel MPI", "impi-rt", always={"I_MPI_FABRICS": "shm"}),
}
"""The implementations that come as wheels. Any other is started by its ``mpiexec`` alone."""


class Launch(msgspec.Struct, frozen=True):
    """The start of a command that runs so many ranks of a program, and the environment variables that it needs.

    ``of`` is the library, as in ``Open MPI 5.0.11``.
    """

    command: tuple[str, ...]
    environment: dict[str, str]
    of: str


@dataclass(frozen=True)
class Library:
    """The library that was loaded: what it says of itself in one line, and the version of the standard it keeps to."""

    implementation: Implementation
    version: str
    text: str
    standard: str

    @property
    def name(self) -> str:
        """Return implementation and version, as in ``Open MPI 5.0.11``."""
        return f"{self.implementation.vendor} {self.version}"

    def launch(self, ranks: int) -> Launch:
        """Return how ``ranks`` are started, by the user's own settings where they have some.

        Raise ``FileNotFoundError`` where there is no ``mpiexec``, ``ValueError`` where ``LAUNCH`` has no ``{ranks}``.
        """
        if named := os.environ.get(LAUNCH):
            return Launch(_named(named, ranks), {}, self.name)
        cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
        of = self.implementation
        settings = {
            **of.always,
            **(of.crowded if ranks > CROWDED * cores else {}),
            **(of.root if os.geteuid() == 0 else {}),
        }
        command = (launcher(of.wheel), *of.options, "-n", str(ranks))
        return Launch(command, {name: os.environ.get(name, value) for name, value in settings.items()}, self.name)


def loaded() -> Library:
    """Return the library that mpi4py loads; raise ``ImportError`` or ``RuntimeError`` where there is none."""
    import_module("mpi4py").rc.initialize = False
    mpi = import_module("mpi4py.MPI")
    vendor, version = mpi.get_vendor()
    known = {each.vendor: each for each in IMPLEMENTATIONS.values()}
    return Library(
        known.get(vendor, Implementation(vendor, "")),
        ".".join(map(str, version)),
        " ".join(str(mpi.Get_library_version()).partition("\n")[0].strip("\0").split()),
        ".".join(map(str, mpi.Get_version())),
    )


def launcher(wheel: str) -> str:
    """Return the ``mpiexec`` of a wheel, or else the one beside the interpreter or on the path."""
    beside = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    found = _of_wheel(wheel) or shutil.which("mpiexec", path=beside)
    if found is None:
        raise FileNotFoundError(
            "no mpiexec beside the interpreter or on the path; install an MPI, or: pip install mpich"
        )
    return found


def _named(command: str, ranks: int) -> tuple[str, ...]:
    """Return the words of the user's own launcher; raise ``ValueError`` where it is not told how many ranks."""
    words = tuple(word.replace("{ranks}", str(ranks)) for word in shlex.split(command))
    if "{ranks}" not in command:
        raise ValueError(f"{LAUNCH} is {command!r}, without {{ranks}}; write it as 'srun -n {{ranks}}'")
    if shutil.which(words[0]) is None:
        raise FileNotFoundError(f"{LAUNCH} names {words[0]!r}, which is no program here")
    return words


def _of_wheel(wheel: str) -> str | None:
    try:
        files = distribution(wheel).files if wheel else None
    except PackageNotFoundError:
        return None
    return next((str(Path(str(file.locate())).resolve()) for file in files or () if file.name == "mpiexec"), None)


def main(arguments: list[str]) -> None:
    """Print how the ranks asked for are started; exit with a line where there is no library or launcher."""
    try:
        launch = loaded().launch(int(arguments[0]))
    except (ImportError, OSError, RuntimeError) as error:
        raise SystemExit(" ".join(str(error).split())) from error
    sys.stdout.write(msgspec.json.encode(launch).decode())


if __name__ == "__main__":
    main(sys.argv[1:])
