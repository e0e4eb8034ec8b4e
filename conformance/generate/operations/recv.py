"""How recv is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.cases.program.program import Attr
from conformance.generate import choices
from conformance.generate.calls.draft import EQUAL, Draft, draft
from conformance.generate.calls.vocabulary import pairs_near
from conformance.generate.operations.send import exchange


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a send and the recv of its token, which now and then expects something else."""
    drawn: Draft = draft(draw, groups=EQUAL)
    pairs, shape = draw(pairs_near(drawn.group_size)), drawn.shape()
    receive: dict[str, Attr] = {"pairs": pairs, "shape": shape, "dtype": drawn.dtype}
    misuse = draw(choices.sampled_from([*["none"] * 20, "shape", "dtype", "pairs", "pairs", "none"]))
    if misuse == "shape":
        receive["shape"] = (*shape, 1)
    if misuse == "dtype":
        receive["dtype"] = "uint8" if drawn.dtype == "int32" else "int32"
    if misuse == "pairs":
        receive["pairs"] = pairs[1:] if pairs else ((0, 0),)
    return exchange(drawn, {"x": drawn.operand(shape, alike=True)}, pairs, receive)
