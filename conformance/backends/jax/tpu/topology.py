"""The devices of a TPU that is not there: XLA's compiler for TPUs needs a topology and no chip."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

PINNED: Final = "0.0.42.1"
"""The ``libtpu`` that jax 0.10.2 names; what the compiler writes changes with it."""

TOPOLOGY: Final = "CONFORMANCE_TPU_TOPOLOGY"
"""The variable that names a topology, as ``v5e:2x2``."""

TOPOLOGIES: Final = {"v5e:2x2": ("v5litepod-4", (2, 2, 1)), "v5e:4x2": ("v5litepod-8", (4, 2, 1))}
"""Topologies that are judged: what the environment has to call them, and chips that one host has, all of them.

Of two hosts the devices of a smaller mesh are none that the compiler has: it ends the process (world 4 of 4x2)."""


def chosen() -> str:
    """Return the topology that is asked for; raise ``ImportError`` for one that is not judged here."""
    name = os.environ.get(TOPOLOGY, "v5e:4x2")
    if name not in TOPOLOGIES:
        raise ImportError(f"{TOPOLOGY}: no topology {name!r}; there are {', '.join(TOPOLOGIES)}")
    return name


def check() -> tuple[str, str]:
    """Return the topology that is asked for, and the version of libtpu.

    Raise ``ImportError`` where libtpu is missing or another than the one that is pinned, and for no such topology.
    """
    name = chosen()
    try:
        found = version("libtpu")
    except PackageNotFoundError:
        raise ImportError(f"libtpu is missing: pip install libtpu=={PINNED} (its licence is not an open one)") from None
    if found != PINNED:
        raise ImportError(
            f"libtpu {found} is installed; what is read of the compiler is that of {PINNED}: "
            f"pip install libtpu=={PINNED}"
        )
    return name, found


def start() -> list[Any]:
    """Return the devices of the topology.

    Raise ``ImportError`` as ``check`` does, and where libtpu does not start.
    """
    name, found = check()
    # Without these libtpu asks a metadata server that is not there (60 s).
    accelerator, host = TOPOLOGIES[name]
    os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
    # A lock file keeps chips to one process. No chip is used here, and a run has two.
    os.environ.setdefault("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")
    os.environ.setdefault("TPU_ACCELERATOR_TYPE", accelerator)
    os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
    from jax.experimental import topologies

    try:
        described = topologies.get_topology_desc(name, platform="tpu", chips_per_host_bounds=list(host))
    except Exception as error:
        raise ImportError(f"libtpu {found} gives no topology {name}: {error}") from error
    return list(described.devices)
