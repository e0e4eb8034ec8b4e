"""Processes that ``jax.distributed`` makes one program."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("jax")

from conformance.backends.jax import Jax
from conformance.backends.jax.launched import DEVICES, LAUNCH, platform
from conformance.runner.smoke import example_case
from conformance.specs import OPS

GROUPS = """sh -c 'for host in a b; do for one in $(seq {each}); do "$@" & done; done; wait' sh"""
"""Two groups of processes of this machine, for two hosts."""


class Alone(Jax):
    """All ranks in this process."""

    name = "jax-alone"


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Jax]:
    monkeypatch.setenv(LAUNCH, GROUPS)
    monkeypatch.setenv("CONFORMANCE_JAX_HOSTS", "2")
    monkeypatch.setenv("CONFORMANCE_JAX_MEET", "127.0.0.1")
    monkeypatch.setenv(DEVICES, "2")
    backend = Jax()
    yield backend
    backend.close()


def test_launched_ranks_are_asked_collectives_alone_in_worlds_that_can_be_shared(launched: Jax) -> None:
    claims = launched.claims
    assert claims["all_reduce"]["world"] == ["4", "8", "12", "16"]
    assert not {"graph", "typed_program", "sharded_program"} & claims.keys()
    assert (launched.together, launched.describe()["platform"]) == ({}, "cpu")


def test_platforms_are_named_as_devices_name_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cuda,cpu")
    assert platform() == "gpu"


@pytest.mark.slow
def test_two_groups_of_processes_run_one_program(launched: Jax) -> None:
    case = example_case("all_gather", OPS["all_gather"].examples[0])
    seen = launched.execute(case)
    assert (seen.raised, seen.results, seen.touched) == (False, Alone().execute(case).results, ())
    # A program that JAX refuses is refused by all, and the processes go on.
    refused = launched.execute(example_case("all_reduce", OPS["all_reduce"].examples[1]))
    assert {error and error.kind for error in refused.errors} == {"NotImplementedError"}
    assert not launched.execute(case).raised
