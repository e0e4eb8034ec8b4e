"""The topics of sharded tensors: what the source ``tinygrad.multi`` has of operations, with its two all_reduces."""

from __future__ import annotations

from typing import Final

from conformance.specification.case_topics.topic import Topic, clauses_of


def _of(*numbers: int) -> tuple[str, ...]:
    return clauses_of("sharded", *numbers)


TOPICS: Final = (
    Topic(
        "S1",
        "Shards by default and by bounds, uneven and empty; placements that do not fit.",
        _of(7, 11, 12, 13, 16, 17, 18),
    ),
    Topic("S2", "From parts and to parts, none of which is another name of its source.", _of(1, 2, 44, 46)),
    Topic("S3", "Masks: what is not real shows nowhere.", _of(14)),
    Topic("S4", "Copies to one device, gathers, moves, and replicas.", _of(3, 35, 40)),
    Topic("S5", "Elementwise operations on operands that are placed alike, otherwise, or not at all.", _of(19, 20)),
    Topic("S6", "Folds along axes that are not split.", _of(21)),
    Topic("S7", "Folds along the split axis, of empty, masked and pending parts too.", _of(15, 22)),
    Topic("S8", "Reshapes that keep, move, split or cannot move the split axis.", _of(23)),
    Topic("S9", "Pads off the split axis, along it, and of one part to its place.", _of(24, 49)),
    Topic("S10", "Expansions and permutations.", _of(25, 26)),
    Topic("S11", "Ranges: one part, the whole, anything else.", _of(27)),
    Topic("S12", "Steps and flips.", _of(28, 29)),
    Topic(
        "S13",
        "Constants, conversions, contiguous and detached tensors, assigns, also through views.",
        _of(32, 33, 34, 36, 47, 48, 50),
    ),
    Topic("S14", "Folds over devices with the bits of the source's naive all_reduce.", _of(51), free=True),
    Topic("S15", "Folds over devices with the bits of the source's ring.", _of(52), free=True),
)
"""The topics in their order: one for each row that the source has."""
