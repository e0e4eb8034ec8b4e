"""JAX keeps the devices that it began with, so it begins with several before the first test times it on one."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from conformance.backends.jax.devices import start


@pytest.fixture(autouse=True, scope="session")
def _several_devices() -> None:
    if find_spec("jax"):
        start()
