"""recv: take off the blocks that a send put under way."""

from __future__ import annotations

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.reference.operations.permute import check_pairs
from conformance.reference.operations.send import Token
from conformance.reference.rejection import Rejected


# What is under way between a send and its recv lies in no buffer, and in no shape that ranks share.
@operation("exchange", readers="nobody", differ="all")
def recv(tokens: list[Token], *, pairs: Groups, shape: tuple[int, ...], dtype: str, groups: Groups) -> list[Array]:
    """Return the block sent to each rank, zeros of ``shape`` and ``dtype`` where none was (``recv.C2``)."""
    check_pairs(pairs, groups, len(tokens))
    for token in tokens:
        if not isinstance(token, Token):
            raise Rejected("recv.C4", f"nothing was sent along {list(pairs)}: the send was over no axis")
    if dtype not in NUMPY:
        raise Rejected("recv.C3", f"unknown dtype {dtype!r}; known are {', '.join(NUMPY)}")
    for token in tokens:
        if (str(NUMPY[dtype]), shape) != token.sent:
            raise Rejected("recv.C3", f"{token.sent[0]} {token.sent[1]} was sent, {dtype} {shape} is expected")
        if pairs != token.pairs:
            raise Rejected("recv.C4", f"sent along {list(token.pairs)}, expected along {list(pairs)}")
        if sorted(groups) != sorted(token.groups):
            raise Rejected("recv.C4", f"sent in the groups {list(token.groups)}, expected in {list(groups)}")
    return [np.zeros(shape, NUMPY[dtype]) if token.block is None else token.block.copy() for token in tokens]
