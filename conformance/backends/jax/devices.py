"""Starting JAX: flags that must be in the environment before its first device exists."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import ModuleType

    from jax import Device

WORLD: Final = 8
"""Virtual CPU devices, the largest world of the specification."""

FLAGS: Final = (
    # Ranks that wait for one another for ever become an abort after 4 s, which the runner sees; by default they
    # still hang after 22 s (jaxlib 0.10.2, 8 virtual devices on 2 cores).
    "--xla_cpu_collective_call_warn_stuck_timeout_seconds=2",
    "--xla_cpu_collective_call_terminate_timeout_seconds=4",
)
"""What XLA is told. Nothing here touches the compiler: what is judged is what a user compiles by default."""


def start() -> list[Device]:
    """Import JAX with 64-bit types and return its devices, at most ``WORLD``."""
    devices: list[Device] = configured(WORLD).devices()[:WORLD]
    return devices


def configured(devices: int) -> ModuleType:
    """Import JAX with 64-bit types and so many virtual CPU devices, which are not made yet, and return it.

    ``JAX_PLATFORMS`` chooses real devices instead of virtual CPU ones, and flags already in ``XLA_FLAGS`` win over
    ours. If a JAX in this process already has its devices, those are what it has.
    """
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    ours = (f"--xla_force_host_platform_device_count={devices}", *FLAGS)
    given = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag not in ours]
    os.environ["XLA_FLAGS"] = " ".join([*ours, *given])
    import jax

    # Without it float64 blocks would silently become float32.
    jax.config.update("jax_enable_x64", True)
    # A fresh case is compiled afresh, whatever cache on disk the user's environment names.
    jax.config.update("jax_enable_compilation_cache", False)
    # Locations of our own source lines, which differ from machine to machine, stay out of compiler messages.
    jax.config.update("jax_traceback_in_locations_limit", 0)
    # Tidying tracebacks that nobody sees is nine tenths of the time of a refusal: 3.6 ms against 0.4 (jax 0.10.2).
    jax.config.update("jax_traceback_filtering", "off")
    return jax


def reads_types() -> bool:
    """Return whether the release that is installed has what typed programs are read by: an aval's state along axes.

    In 0.9 a part of it is a set of names, and another is with the sharding; it has no starts either.
    """
    from jax._src import core
    from jax._src.lax import parallel

    return hasattr(core.ShapedArray, "mat") and hasattr(parallel, "psum_start")
