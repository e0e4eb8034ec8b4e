"""How the suite long is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.draft import Draft
from conformance.generate.calls.process_groups import PARTITIONS, place
from conformance.generate.operations import CALLED
from conformance.generate.programs.chains import chain
from conformance.generate.programs.script import script

TERMS: Final = 8192
"""Terms from which implementations sum in several passes."""


MOST_BYTES: Final = 16 << 20
"""Bytes of inputs above which a case is drawn anew, of few ranks and without a chain. On 64 ranks chains of long blocks
had up to 78 MiB, for which the runner took 670 MiB; 17 of 864 draws were above this."""

_EFFECTS: Final = choices.sampled_from([True, True, True, False])
_SHORT: Final = choices.sampled_from([True, True, False])
_SIZE: Final = choices.sampled_from(["long"] * 11 + ["past"])
_MANY: Final = choices.sampled_from([False] * 7 + [True])
_DTYPE: Final = choices.sampled_from(["int32", "float32", "float64", "int8", "uint16", "bool"])
_REDUCTION: Final = choices.sampled_from(["sum", "product", "max", "min"])


@choices.composite
def programs(draw: choices.Draw, op: str) -> Case:
    """Draw a program on ``op`` whose blocks are long, one in twelve past every threshold, or with very many terms."""
    size = draw(_SIZE)
    if size == "long" and op == "all_reduce" and draw(_MANY):
        return many_terms(draw)
    # A chain on blocks past every threshold had 76 MiB of inputs, for which the runner took 680 MiB.
    effects, short = draw(_EFFECTS), size == "past" or draw(_SHORT)
    program = script(draw, op, shapes=size, once=True, few=size == "past")
    case = chain(program, effects=effects, starts=effects, short=short)
    if _bytes(case) <= MOST_BYTES:
        return case
    return chain(script(draw, op, shapes=size, once=True, few=True), effects=False, starts=False, short=True)


def _bytes(case: Case) -> int:
    return sum(len(block.bits) // 2 for operand in case.inputs.values() for block in operand.blocks)


def many_terms(draw: choices.Draw) -> Case:
    """Draw an all_reduce over a local axis of so many elements that ``TERMS`` or more meet, exactly."""
    at = place(draw, PARTITIONS)
    drawn = Draft(draw, at.mesh, at.axes, at.groups, draw(_DTYPE))
    extent = -(-TERMS // drawn.group_size) + draw.one((0, 1, 3))
    reduction = draw(_REDUCTION)
    values = "local" if "float" in drawn.dtype and reduction in ("sum", "product") else reduction
    drawn = replace(drawn, dtype="float64") if reduction == "sum" and "float" in drawn.dtype else drawn
    return drawn.case("all_reduce", shape=(2, extent), attrs={"op": reduction, "local_axes": (1,)}, values=values)


SUITE: Final = "long"

DOMAINS: Final = {op: programs(op) for op in CALLED}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.06
"""The part of a run's examples that is drawn for each operation of the suite."""
