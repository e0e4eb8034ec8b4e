"""Facts of lowering that are read of modules for TPUs: a collective once, with its ids, its channel and its ends."""

from __future__ import annotations

import pytest

from conformance.backends.jax.hlo.module import Module, read_module
from conformance.backends.jax.tpu.facts import read
from conformance.backends.jax.tpu.meetings import FOLDS
from conformance.cases.types.lowered import Lowered
from tests.backends.jax.test_tpu_neutral import BEGUN

PAIRS = "channel_id=2, source_target_pairs={{0,1},{1,0}}"


def module(text: str) -> Module:
    hlo = pytest.importorskip("jaxlib._hlo")
    return read_module(
        hlo.hlo_module_from_text(f"HloModule m, is_scheduled=true\n{text}").as_serialized_hlo_module_proto()
    )


def entry(*lines: str) -> list[Lowered]:
    return read(module("\n".join(["ENTRY e {", "p = f32[2]{0} parameter(0)", *lines, "}"])), 2)


def test_a_gather_has_its_axis_its_groups_and_the_kind_of_its_ids() -> None:
    how = "channel_id=1, replica_groups={{1,0}}, dimensions={0}"
    (found,) = entry(f"ROOT g = f32[4]{{0}} all-gather(p), {how}, use_global_device_ids=true")
    assert found == Lowered(op="all_gather", groups=((1, 0),), global_ids=True, channel=True, dimensions=(0,))
    (other,) = entry("ROOT g = f32[4]{0} all-gather(p), replica_groups={{1,0}}, dimensions={0}")
    assert (other.global_ids, other.channel) == (False, False)


def test_what_is_started_has_as_many_dones_as_wait_for_it() -> None:
    start = f"s = (f32[2]{{0}}, f32[2]{{0}}, u32[], u32[]) collective-permute-start(p), {PAIRS}"
    (found,) = entry(start, "ROOT d = f32[2]{0} collective-permute-done(s)")
    assert (found.op, found.groups, found.started, found.dones) == ("permute", ((0, 1), (1, 0)), True, 1)


def test_a_collective_of_asynchronous_fusions_is_one_that_is_started_and_done() -> None:
    (found,) = read(module(BEGUN), 2)
    assert (found.op, found.started, found.dones, found.dimensions) == ("all_gather", True, 1, (0,))


def test_where_devices_meet_every_reduction_of_a_collective_is_folded() -> None:
    assert {"sum", "product", "max", "min", "and", "or", "xor"} <= set(FOLDS)
