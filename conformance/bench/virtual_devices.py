"""One virtual CPU device of JAX for each rank, in one process."""

from __future__ import annotations

import os

import jax


class VirtualDevices:
    """A mesh with the one axis ``ranks``."""

    def __init__(self, ranks: int) -> None:
        """Ask for the devices before JAX first looks for any."""
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count={ranks}"
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        self._mesh = jax.make_mesh((ranks,), ("ranks",), devices=jax.devices()[:ranks])

    def describe(self) -> dict[str, str]:
        """Return the version."""
        return {"jax": jax.__version__, "devices": str(len(self._mesh.devices))}
