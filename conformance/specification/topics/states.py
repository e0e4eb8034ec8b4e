"""Topics about the states of types of mesh axes."""

from __future__ import annotations

from typing import Final

from conformance.specification.topics.topic import topic

STATES: Final = (
    topic(
        "reduced and unreduced",
        "to=reduced, all_gather to reduced, all_gather_reduced, unreduced psum, unreduced operand, psum of unreduced, "
        "pending sum of a type, P(reduced=), P(unreduced=)",
        "An unreduced value is the sum of what ranks hold; an all_reduce or a reduce_scatter adds it up. A reduced one "
        "is the same on all ranks, and its cotangent is unreduced: the transpose of an all_gather to reduced is a "
        "reduce_scatter, and that of a cast from reduced to varying one to unreduced. Other collectives over the axis "
        "refuse both.",
        "types.C3 types.C4 types.C5 types.C6 types.C15 transposes.C6 transposes.C7 transposes.C10",
        "specification-types.md",
    ),
    topic(
        "mesh axes of one rank",
        "remove_size_one_mesh_axis_from_type, size one mesh axis, mesh axis of size 1, trivial mesh axis, axis of one "
        "device",
        "Over such an axis alone results are those of a group of one, and beside other axes those without it. A type "
        "has there the state of the rules, or invariant: both are right, and so both are in JAX, by "
        "`jax_remove_size_one_mesh_axis_from_type`.",
        "collective.C10 collective.C28 types.C12 types.C18",
        "specification-types.md",
    ),
)
