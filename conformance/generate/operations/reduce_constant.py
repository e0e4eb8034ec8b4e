"""How reduce_constant is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.draft import PARTITIONS, Draft, draft


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw the sum of a number or bool over any axes and any partition, now and then one outside the range of int32."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    most = max(map(len, drawn.rank_groups()), default=0) or 1  # groups that are refused may be empty
    # The ends of int32, what is just beyond them, and numbers that float32 does not hold.
    ends = [(2**31 - 1) // most, -(2**31 // most), (2**31 - 1) // most + 1, -(2**31 // most) - 1]
    rounded = [(2**24 + 1) // most | 1, -(2**30 // most) | 1]
    kinds = [0.5, -2.25, True, 0.1, 1e30, False, -0.0, 16777217.0]
    number = draw(choices.sampled_from([1, 0, 2, -3, 1000, *ends, *rounded, *rounded, 2**29, -(2**31), *kinds]))
    return drawn.program("reduce_constant", {}, ("y",), {"value": number})
