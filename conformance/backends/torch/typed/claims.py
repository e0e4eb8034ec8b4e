"""What Torch documents of autograd through collectives, as data.

Torch gives no value a type: every rank has a block of its own, and a cotangent of its own for it. So programs are
claimed whose types are not checked, and none is claimed to be refused for its types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.base import Claims
from conformance.cases.types.typed_program import LOCAL

Limits = dict[str, Sequence[str]]

COMMON: Final[Limits] = {
    "checks": ("off",),
    # The axes of a mesh are ranks of a process group by the time Torch sees them.
    "mapped": ("all",),
    "starts": ("none",),
    "local_axes": ("none",),
    # A rank is a process of this machine.
    "world": tuple(str(world) for world in range(1, 9)),
}

SUMS: Final[Limits] = {"op": ("sum",)}
"""ReduceOp: "AVG is only available with the NCCL backend"; a maximum is not linear."""

C10D: Final[Claims] = {
    "transposed_program": {
        **COMMON,
        **SUMS,
        # torch.distributed.nn.functional has these beside gather, reduce and scatter; no send and no receive.
        "steps": ("all_gather", "all_reduce", "all_to_all", "broadcast", "reduce_scatter", *LOCAL),
    }
}
"""``torch.distributed.nn``: "collectives that are differentiable"."""

FUNCTIONAL: Final[Claims] = {
    "transposed_program": {
        **COMMON,
        **SUMS,
        # Each has a formula for autograd in torch.distributed._functional_collectives; broadcast has none.
        "steps": ("all_gather", "all_reduce", "reduce_scatter", "shuffle", *LOCAL),
        # "Concatenate over gather_dim": there is no stacked form.
        "tiled": ("true", "none"),
    },
}
"""Functional collectives: "the input tensor is left unmodified", which is what autograd needs.

No collective has a batching rule, so none is claimed under ``torch.func.vmap``: its fallback stacks the results of a
collective called once a slice before anybody waits for them.
"""
