"""One tinygrad a mode for all tests; the device that needs no compiler, so that every machine tests the same."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import pytest

from conformance.backends.tinygrad import TinyGrad, TinyGradAllToAll, TinyGradRing

MODES = {"naive": TinyGrad, "ring": TinyGradRing, "all2all": TinyGradAllToAll}


def made(kind: type[TinyGrad]) -> TinyGrad:
    os.environ["DEV"] = "PYTHON"
    if find_spec("tinygrad") is None:
        pytest.skip("tinygrad is not installed")
    if "tinygrad" in sys.modules:
        from tinygrad.helpers import DEV

        # Tests before these have imported it, and it has read the variable.
        DEV.value = "PYTHON"
    return kind()


@pytest.fixture(scope="session", params=sorted(MODES))
def mode(request: pytest.FixtureRequest) -> TinyGrad:
    return made(MODES[request.param])


@pytest.fixture(scope="session")
def tinygrad() -> TinyGrad:
    return made(TinyGrad)
