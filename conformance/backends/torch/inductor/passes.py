"""Inductor's passes that move and join collectives, by name, as the settings that switch each on."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from unittest import mock

import torch
from torch import fx
from torch._inductor import config
from torch._inductor.codegen.wrapper import AllocateLine
from torch._inductor.utils import IndentedBuffer
from torch.distributed import _symmetric_memory

from conformance.cases.schedule.communication import Choice

VARIABLE: Final = "CONFORMANCE_TORCH_INDUCTOR_PASSES"
"""Names of passes, with commas between them, that are on in every schedule."""


def _estimated(node: fx.Node, size: int | None = None) -> float:
    """Return how long a node takes, in ms: as much for each, as nothing runs here that could be measured."""
    del node, size
    return 1.0


PASSES: Final[Mapping[str, Mapping[str, Any]]] = {
    "raise_and_sink": {
        "reorder_for_compute_comm_overlap": True,
        "reorder_for_compute_comm_overlap_passes": ["raise_comms", "sink_waits"],
    },
    "overlap": {
        "reorder_for_compute_comm_overlap": True,
        "reorder_for_compute_comm_overlap_passes": ["reorder_compute_for_overlap"],
    },
    # The list that Inductor's settings recommend.
    "iterative": {
        "reorder_for_compute_comm_overlap": True,
        "reorder_for_compute_comm_overlap_passes": [
            "reorder_communication_preserving_peak_memory",
            "sink_waits_iterative",
            "reorder_communication_preserving_peak_memory",
        ],
    },
    "bucketing": {
        "bucket_all_gathers_fx": "all",
        "bucket_reduce_scatters_fx": "all",
        "bucket_all_reduces_fx": "all",
    },
    "ddp": {"_fuse_ddp_communication": True},
    "scheduling": {
        "aten_distributed_optimizations.enable_overlap_scheduling": True,
        "aten_distributed_optimizations.custom_runtime_estimation": _estimated,
        # Their costs are read of a device by Triton.
        "aten_distributed_optimizations.enable_fusion_regions": False,
    },
    "one_shot": {"_collective.auto_select": True},
}
"""What is on by each; torch 2.13 has no ``simple_overlap``. Those that reorder are one setting, and the last counts.

``one_shot`` is for devices with symmetric memory: see ``switched``.
"""


def chosen() -> tuple[str, ...]:
    """Return the passes that the environment names; raise ``ValueError`` for one that there is not."""
    names = tuple(name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip())
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ValueError(f"{VARIABLE} names {unknown[0]!r}; passes are {', '.join(PASSES)}")
    return names


def settings(names: Sequence[str]) -> dict[str, Any]:
    """Return Inductor's settings with some passes on."""
    return {key: value for name in names for key, value in PASSES[name].items()}


@contextlib.contextmanager
def switched(names: Sequence[str]) -> Iterator[None]:
    """Have memory of this machine pass for symmetric memory meanwhile, where one-shot is on.

    Torch's own mode for tests says that every group has it. What allocates a buffer of it asks for the number of a
    device, which a processor has not: it is written as on a device that has one.
    """
    if "one_shot" not in names:
        yield
        return
    with _symmetric_memory._test_mode(), mock.patch.object(AllocateLine, "_codegen_comm_buffer", _allocated):  # noqa: SLF001 - Torch's own tests use it
        yield


_WRITTEN: Final = AllocateLine._codegen_comm_buffer  # noqa: SLF001 - what Torch writes is what is read


def _allocated(self: AllocateLine, code: IndentedBuffer) -> None:
    """Write the allocation of a communication buffer as on the first of some devices; nothing of it runs here."""
    with mock.patch.object(type(self.node), "get_device", return_value=torch.device("cuda", 0)):
        _WRITTEN(self, code)


def choice(names: Sequence[str]) -> Choice:
    """Return what one-shot is chosen by with some passes on."""
    return Choice(on="one_shot" in names, threshold=int(config._collective.one_shot_all_reduce_threshold_bytes))  # noqa: SLF001 - its only place


def others(names: Sequence[str]) -> tuple[str, ...]:
    """Return the passes that are not on with some on."""
    return tuple(name for name in PASSES if name not in names)


def with_costs(names: Sequence[str], seed: str) -> dict[str, Any]:
    """Return Inductor's settings with some passes on and those that ask what each operation costs, which is random.

    Every operation takes between 1 ns and 10 ms, each time that it is asked for drawn anew.
    """
    on = dict.fromkeys((*names, "scheduling", "iterative"))
    drawn = random.Random(seed)  # noqa: S311 - estimates are no secrets

    def cost(*_: Any, **__: Any) -> float:
        return float(10 ** drawn.uniform(0, 7))

    estimates = {
        "estimate_op_runtime": cost,
        "aten_distributed_optimizations.custom_runtime_estimation": lambda *_, **__: cost() / 1e6,
    }
    return {**settings(tuple(on)), **estimates}
