"""One tinygrad a mode for all tests; the device that needs no compiler, so that every machine tests the same."""

from __future__ import annotations

import os

import pytest

from conformance.backends.tinygrad import TinyGrad, TinyGradAllToAll, TinyGradRing

MODES = {"naive": TinyGrad, "ring": TinyGradRing, "all2all": TinyGradAllToAll}


def made(kind: type[TinyGrad]) -> TinyGrad:
    # Read when tinygrad is imported, which looking for it does.
    os.environ["DEV"] = "PYTHON"
    pytest.importorskip("tinygrad")
    return kind()


@pytest.fixture(scope="session", params=sorted(MODES))
def mode(request: pytest.FixtureRequest) -> TinyGrad:
    return made(MODES[request.param])


@pytest.fixture(scope="session")
def tinygrad() -> TinyGrad:
    return made(TinyGrad)
