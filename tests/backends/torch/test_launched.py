"""Ranks of Torch that a launcher of the user's starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.backends.torch import LAUNCH, Torch
from conformance.runner.smoke import example_case
from conformance.specs import OPS


@pytest.mark.slow
def test_torchrun_starts_the_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    torchrun = Path(sys.executable).with_name("torchrun")
    monkeypatch.setenv(LAUNCH, f"{torchrun} --no-python --nproc-per-node {{each}} --master-port {{port}}")
    backend = Torch()
    try:
        seen = backend.execute(example_case("broadcast", OPS["broadcast"].examples[0]))
        assert (seen.raised, len(seen.results["y"])) == (False, 3)
    finally:
        backend.close()
