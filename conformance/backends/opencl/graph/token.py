"""Tokens: what a send put under way and only the recv that fits may take off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from conformance.backends.opencl.graph import rejections as no
from conformance.backends.opencl.graph.attributes import (
    NUMBERS,
    ROWS,
    attributes,
    equal_size,
    pairs_in,
    partitioned,
    takes,
)
from conformance.backends.opencl.graph.node import Collective, Join, Movement, Output, Part, whole
from conformance.backends.opencl.graph.view import contiguous
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import NUMPY

takes("recv", pairs=ROWS, shape=NUMBERS, dtype=str)


class Token(msgspec.Struct, frozen=True, eq=False):
    """The blocks under way, by rank of destination, the pairs they travel along, and their dtype and shape.

    ``groups`` are the ranks that the pairs are positions of.
    """

    blocks: dict[int, Movement]
    pairs: tuple[tuple[int, ...], ...]
    dtype: str
    shape: tuple[int, ...]
    world: int
    groups: Groups


def sent(made: Collective, groups: Groups) -> Token:
    """Return the token of a send in ``groups`` of ranks."""
    block = made.blocks[0]
    size = block.view.size
    blocks = {
        rank: whole(Output(rank, made.dtype, size, made), shape)
        for rank, shape in enumerate(made.shapes)
        if shape is not None
    }
    return Token(blocks, made.attrs["pairs"], made.dtype, block.view.shape, len(made.blocks), groups)


def received(token: Token, given: Mapping[str, Any], groups: Groups) -> tuple[Movement, ...]:
    """Return what every rank receives, zero bits where nothing is under way; raise ``RejectionError`` for a misfit."""
    attrs = attributes("recv", given)
    partitioned(groups, token.world)
    pairs_in(attrs["pairs"], equal_size(groups))
    wanted = attrs["dtype"], attrs["shape"]
    if wanted[0] not in NUMPY:
        raise no.TransferMismatchError(f"unknown dtype {wanted[0]!r}; known are {', '.join(NUMPY)}")
    if wanted != (token.dtype, token.shape):
        raise no.TransferMismatchError(
            f"{token.dtype} {token.shape} is under way, {wanted[0]} {wanted[1]} is expected; both must be the same"
        )
    if attrs["pairs"] != token.pairs:
        raise no.TransferMismatchError(
            f"blocks are under way along {list(token.pairs)}, expected along {list(attrs['pairs'])}; no one may be "
            "left without a partner"
        )
    if sorted(groups) != sorted(token.groups):
        raise no.TransferMismatchError(
            f"blocks are under way in the groups {list(token.groups)}, expected in {list(groups)}; the pairs are of "
            "other ranks there"
        )
    at = contiguous(token.shape)
    nothing = (Part(at, None),)
    return tuple(
        token.blocks.get(rank) or whole(Join(rank, token.dtype, at.size, nothing), token.shape)
        for rank in range(token.world)
    )
