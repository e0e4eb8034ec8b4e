"""send: put blocks under way along (source, destination) pairs; recv takes them off."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.operations.permute import check_pairs


@dataclass(frozen=True)
class Token:
    """What orders a recv after its send: the pairs, and the block under way to this rank, if one is.

    ``groups`` are the ranks that the send moves blocks among: along other axes the same pairs are other ranks.
    """

    pairs: Groups
    block: Array | None
    sent: tuple[str, tuple[int, ...]]
    groups: Groups


@operation("exchange", readers="sources", writers="nobody")
def send(blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Token]:
    """Return a token for each rank; the block of every source is under way to its destination."""
    check_pairs(pairs, groups, len(blocks))
    sent = (str(blocks[0].dtype), blocks[0].shape)
    out = [Token(pairs, None, sent, groups) for _ in blocks]
    for group in groups:
        for source, destination in pairs:
            out[group[destination]] = Token(pairs, blocks[group[source]].copy(), sent, groups)
    return out
