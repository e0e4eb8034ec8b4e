"""How the domains of reductions choose attributes and data for the drawn reduction and dtype."""

from __future__ import annotations

from hypothesis import strategies as st

from conformance.cases.dtypes import kind
from conformance.cases.program import Attr
from conformance.specs.domain import Draft


def reducing(drawn: Draft, op: str) -> tuple[dict[str, Attr], str]:
    """Return the attributes of reduction ``op`` and the name of the pool its data comes from."""
    attrs: dict[str, Attr] = {"op": op}
    if op == "premul_sum":
        attrs["factor"] = drawn.draw(st.sampled_from([0.5, 2.0, 1.0]))
    if op == "product" and kind(drawn.dtype) == "complex" and drawn.greatest_group <= 2:
        return attrs, "product_of_two"
    if op in ("max", "min") and drawn.draw(st.sampled_from([False, False, False, True])):
        return attrs, "with_nan"
    return attrs, op
