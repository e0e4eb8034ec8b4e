"""What Torch documents of autograd through collectives and of the placements of distributed tensors, as data.

Under autograd no value has a type: every rank has a block of its own, and a cotangent of its own for it. So programs
are claimed to go back through whose types are not checked. A placement of a ``DTensor`` is a type, but no program is
refused for it: a placement that does not fit is redistributed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.base import Claims
from conformance.backends.torch.claims import REALS
from conformance.cases.types.typed_program import LOCAL

Limits = dict[str, Sequence[str]]

COMMON: Final[Limits] = {
    "checks": ("off",),
    # The axes of a mesh are ranks of a process group by the time Torch sees them.
    "mapped": ("all",),
    "starts": ("none",),
    "local_axes": ("none",),
    # Of these functions no page speaks of complex numbers, and the one on autograd says that the gradient of one is the
    # conjugate: no transpose.
    "dtype": REALS,
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
    },
    "typed_program": {
        **COMMON,
        "checks": ("on",),
        "refused": ("none",),
        "groups": ("none",),
        # Shard, Replicate and Partial; what is reduced has no placement of its own.
        "states": ("none", "varying", "invariant", "unreduced"),
        "to": ("none", "varying", "invariant", "unreduced"),
        # Redistribution makes all_gather, all_reduce, reduce_scatter and all_to_all, and no exchange of given pairs.
        "steps": ("all_gather", "all_reduce", "all_to_all", "cast", "reduce_scatter", *LOCAL),
    },
}
"""``torch.distributed.nn``: "collectives that are differentiable", and the placements of ``DTensor``."""

FUNCTIONAL: Final[Claims] = {
    "transposed_program": {
        **COMMON,
        **SUMS,
        # Each has a formula for autograd in torch.distributed._functional_collectives; broadcast has none.
        "steps": ("all_gather", "all_reduce", "reduce_scatter", "shuffle", *LOCAL),
        # "Concatenate over gather_dim": there is no stacked form.
        "tiled": ("true", "none"),
    },
    "batched_program": {
        **COMMON,
        **SUMS,
        # Values are asked for, which types do not change; what is unreduced or reduced has no collective here.
        "checks": ("on", "off"),
        "states": ("none", "varying", "invariant"),
        # vmap binds no name that a collective could meet across.
        "across": ("mesh",),
        "steps": ("all_gather", "all_reduce", "reduce_scatter", "shuffle", *LOCAL),
        "tiled": ("true", "none"),
    },
}
"""Functional collectives: "the input tensor is left unmodified", which is what autograd needs.

No collective has a batching rule. ``torch.func.vmap`` documents of such operators a slower loop over slices, which
gives the same values, so they are claimed. That it gives others is a finding (``torch-vmap-functional-collectives``).
"""
