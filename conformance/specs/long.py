"""The suite of long blocks, which implementations hand over in another way than short ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.cases.case import Case
from conformance.specs import choose
from conformance.specs.asynchrony import overwritten
from conformance.specs.calls import CALLED
from conformance.specs.effectful import Script, script
from conformance.specs.suite import Suite
from conformance.specs.writing import in_place


def plain(program: Script) -> Case:
    """Use the collective, and nothing else."""
    return program.case(*program.run(program.input()))


_TEMPLATES: Final = choose.sampled_from([*[in_place, overwritten] * 4, plain])


@choose.composite
def programs(draw: choose.Draw, op: str) -> Case:
    """Draw a program on ``op`` whose blocks are long: in place, started and its operand overwritten, or plain."""
    template: Callable[[Script], Case] = draw(_TEMPLATES)
    return template(script(draw, op, shapes="long"))


SUITE: Final = Suite(
    "long",
    "The same promises, of blocks of 64 KiB and more.",
    domains={op: programs(op) for op in CALLED},
    share=0.03,
)
