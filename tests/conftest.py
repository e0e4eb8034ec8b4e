"""What all tests share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# What is drawn is the same in every run, and how long that takes is a matter of the machine: of the 200 ms that an
# example is given by default one collection of garbage may take more.
settings.register_profile("tests", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

# The tests start some hundred processes. Without compiled modules on disk each compiles all that it imports, which took
# some 300 of 1,975 s of the processor.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False  # nor is what pytest makes of 500 modules kept from one run to the next

# What Hypothesis finds in the source of 850 modules when a failing case is made smaller is kept here, whatever folder a
# process works in: to read them took 2 of the 4 s of a command.
os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(Path(__file__).parents[1] / ".hypothesis")

# Backends of tests are made from the reference, which a worker hides from every other.
os.environ["CONFORMANCE_REFERENCE"] = "shown"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage neither among 13,000 tests nor after every 700 objects: it took half the time of collecting."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()
