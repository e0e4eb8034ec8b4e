"""Programs without a meaning: a placement that does not fit, or movement that leaves the tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from conformance.cases.graph.graph import Variable
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.vocabulary import plainest
from conformance.generate.graphs.wrong_movement import moved_wrong
from conformance.generate.sharded.expressions import begun
from conformance.generate.sharded.placements import bounds
from conformance.generate.sharded.programs import Program, move


def _cuts(change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Callable[[Program, Split], Placement]:
    return lambda _, split: Placement(splits=(replace(split, cuts=change(split.cuts)),))


def _twice(program: Program, split: Split) -> Placement:
    del program
    return Placement(splits=(split, replace(split, axis=split.axis + 1)))


def _unreal(program: Program, split: Split) -> Placement:
    return Placement(splits=(split,), masks={split.along[0]: (False,) * program.mesh[0].size})


OTHER: Final = {"float32": "int32", "int32": "int16", "bool": "int32"}
"""A dtype that is another, by what it is another than; that of floats of 32 bits for all others."""

WRONG: Final[tuple[Callable[[Program, Split], Placement], ...]] = (
    _cuts(lambda cuts: (*cuts[:-1], cuts[-1] + 1)),
    _cuts(lambda cuts: (*cuts[:-1], max(cuts[-1] - 1, 0))),
    _cuts(lambda cuts: (1, *cuts[1:])),
    _cuts(lambda cuts: (*cuts, cuts[-1])),
    _cuts(lambda cuts: cuts[:-1]),
    _cuts(lambda cuts: (0, cuts[-1] + 1, *cuts[2:]) if len(cuts) > 2 else (0, cuts[-1] + 1)),
    lambda _, split: Placement(splits=(replace(split, axis=7),)),
    lambda _, split: Placement(splits=(replace(split, axis=-4),)),
    lambda _, split: Placement(splits=(replace(split, along=("x",)),)),
    _twice,
    _unreal,
    _cuts(lambda cuts: ()),
)
"""What is made of a right split of axis 0 that is wrong."""


UNPLACED: Final = ("home", "move", "home", "move", "device", "scalar")
"""What does not fit: a buffer's placement, that of a copy, the devices, a split of a tensor without axes."""


MISFITS: Final = ("assigned", "outside", "parts", "apart")
"""Operands that do not fit: of an assign, on other devices, made of parts that make no tensor, or real nowhere both."""

WAYS: Final = (
    *(("shape",), ("assigned",), ("home",), ("outside",), ("symbolic",), ("parts",), ("move",), ("assigned",)),
    *(("shape",), ("outside",), UNPLACED, ("parts",), ("symbolic",), ("apart",)),
)
"""What is wrong, in turn."""


def _misfit(draw: Draw, program: Program, kind: str) -> None:
    """Go on from a buffer whose partner does not fit it, or whose parts make no tensor."""
    asked, head = program.asked, program.asked.head
    shape, dtype = tuple(int(str(extent)) for extent in head.shape), head.dtype
    other = OTHER.get(dtype, "float32")
    if kind == "parts":
        several = (*[dtype] * (len(program.order) - 1), other)
        made_of = draw(choices.sampled_from([several, (), (*[dtype] * len(program.order), dtype)]))
        program.homes[str(head.arg)] = Placement(made_of=made_of)
        asked.on(asked.add("contig", head.shape, dtype, head))
    elif kind == "assigned":
        wrong = draw(choices.sampled_from([(shape, other), ((shape[0] + 1, shape[1]), dtype), ((shape[0], 3), dtype)]))
        value = program.buffer(*wrong)
        program.homes = {}
        asked.on(asked.add("assign", head.shape, dtype, head, value))
    else:
        value = program.buffer(shape, dtype)
        first, *rest = program.mesh[0].size * (True,)
        real = (first, *(not each for each in rest)), (not first, *rest)
        few = (program.order[:1], program.order[:-1]) if len(program.order) > 1 else ((program.order[0] + 1,),)
        outside = {str(value.arg): Placement(outside=draw(choices.sampled_from(few)))}
        names = str(head.arg), str(value.arg)
        apart = {name: Placement(masks={program.mesh[0].name: mask}) for name, mask in zip(names, real, strict=True)}
        program.homes = apart if kind == "apart" and rest else outside
        pair = (head, value) if draw(choices.booleans()) else (value, head)
        asked.on(asked.add("alu", head.shape, dtype, *pair, arg=plainest(dtype)))


@choices.composite
def illegal(draw: Draw, kinds: tuple[str, ...]) -> ShardedCase:
    """Draw a short program that is wrong in one place: a placement, the range of a movement, or an extent."""
    program = begun(draw, "even")
    asked = program.asked
    # Nothing else is special: who has no words for bounds or masks is asked of what it has words for.
    program.homes, program.plain, program.even = {}, True, True
    asked.head = program.buffer((draw(choices.sampled_from([4, 2, 3, 6])), 2), asked.swarm.dtypes[0])
    kind = draw(choices.sampled_from(kinds))
    axis = program.mesh[0]
    rows = int(str(asked.head.shape[0]))
    split = Split(axis=0, along=(axis.name,), cuts=draw(bounds(rows, axis.size)))
    wrong = draw(choices.sampled_from(WRONG))(program, split)
    home = str(asked.head.arg)
    if kind == "home":
        program.homes[home] = wrong
        program.asked.on(asked.add("contig", asked.head.shape, asked.head.dtype, asked.head))
    elif kind in MISFITS:
        _misfit(draw, program, kind)
    elif kind == "shape":
        asked.on(moved_wrong(draw, asked, asked.head))
    elif kind == "symbolic":
        asked.variables["n"] = Variable(low=1, high=rows, value=1)
        asked.on(asked.moved("shrink", ("n", 2), asked.head, ((0, "n"), (0, 2))))
    elif kind == "scalar":
        dtype = asked.head.dtype
        flat = asked.add("reduce", (), dtype, asked.head, arg=(0, 1), fold=plainest(dtype))
        asked.on(flat)
        move(program)
        program.moves[asked.head.id] = Placement(splits=(split,))
    else:
        move(program)
        if kind == "move":
            program.moves[asked.head.id] = wrong
    if kind == "device" and len(program.order) > 1:
        program.order = (program.order[1], *program.order[1:])
    asked.wanted = [asked.head.id]
    asked.close(())
    return program.case()


def illegal_in_turn() -> choices.Choice[ShardedCase]:
    """Return the choice of a case that is wrong in one place, each way in turn."""
    every = tuple(illegal(way) for way in WAYS)
    return choices.Choice(
        lambda draw: draw(every[(draw.dealt.nth + draw.dealt.seed if draw.dealt else 0) % len(every)])
    )
