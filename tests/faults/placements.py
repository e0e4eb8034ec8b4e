"""Placements that do not fit, and steps across parts: what is asked for, and what the refusal says."""

from __future__ import annotations

from typing import Final

from conformance.cases.program.program import Axis
from conformance.cases.sharded.placement import Placement, Split
from tests.faults.fault import Fault, Table

MESH: Final = (Axis("i", 2), Axis("j", 2))


def rows(*cuts: int, axis: int = 0, along: tuple[str, ...] = ("i",)) -> Placement:
    return Placement(splits=(Split(axis=axis, along=along, cuts=cuts),))


TWICE: Final = Placement(splits=(rows(0, 2, 4).splits[0], rows(0, 1, 3, axis=1).splits[0]))
AXIS_TWICE: Final = Placement(splits=(rows(0, 2, 4).splits[0], rows(0, 2, 4, along=("j",)).splits[0]))

ROWS: Final = (
    ("bounds that end before the axis does", rows(0, 2, 3), "axis 0 has 4 elements, and the bounds [0, 2, 3] are of 3"),
    ("bounds that end behind it", rows(0, 2, 5), "axis 0 has 4 elements, and the bounds [0, 2, 5] are of 5"),
    ("bounds that begin behind 0", rows(1, 2, 4), "axis 0 is cut at [1, 2, 4]; bounds begin at 0"),
    ("bounds that overlap", rows(0, 5, 4), "axis 0 is cut at [0, 5, 4]; bounds begin at 0, and none is less"),
    ("more parts than positions", rows(0, 1, 2, 4), "there are 2 positions along i, so 3 bounds are right"),
    ("fewer parts than positions", rows(0, 4), "there are 2 positions along i, so 3 bounds are right"),
    ("an axis that is not there", rows(0, 2, 4, axis=7), "axis 7 is out of range; the tensor has axes 0 to 1"),
    ("a negative axis", rows(0, 2, 4, axis=-1), "axis -1 is out of range; the tensor has axes 0 to 1"),
    ("an axis cut twice", AXIS_TWICE, "axis 0 is cut twice; name several mesh axes in one split"),
    ("a mesh axis used twice", TWICE, "mesh axis 'i' is used twice"),
    ("a mesh axis that is not there", rows(0, 2, 4, along=("k",)), "'k' is no axis of the mesh, which has i, j"),
    ("a split along no mesh axis", rows(0, 4, along=()), "axis 0 is cut along no mesh axis"),
    ("a mask of another length", Placement(masks={"i": (True,)}), "has 1 entries for 2 positions"),
    ("nothing that is real", Placement(masks={"i": (False, False)}), "no part is real; at least one must be"),
    ("a buffer of contributions", Placement(partial={"i": "add"}), "a buffer holds contributions"),
)

TABLE: Final = Table(
    "A placement that does not fit",
    "The reference and the native engine refuse the program on every device alike, before anything is moved, in words "
    "that name the axis, the bounds and what would be legal.",
    (
        *(Fault(f"A buffer of 4 by 3 has {done}.", f"*{says}*", (at,)) for done, at, says in ROWS),
        Fault("A tensor without axes is split.", "*the tensor has no axes: it can only be replicated*", ("scalar",)),
        Fault("One device is at two positions of the mesh.", "*device 0 is named twice in [0, 0, 2, 3]*", ("device",)),
        Fault("An extent is a variable.", "*extent 'n' is a variable*", ("variable",)),
        Fault(
            "A range ends behind the tensor.",
            "*(0, 5) is no range of axis 0, which has bounds 0 <= begin <= end <= 4*",
            ("range",),
        ),
    ),
)

ACROSS: Final = Table(
    "A step across parts",
    "The rules of the source refuse it, and these words say which parts. Whoever gives a value gives the right one, as "
    "the native engine does.",
    (
        Fault("A reshape cuts a part.", "*the bounds [0, 1, 4] of axis 0 are inside elements*", ("reshape",)),
        Fault("A range has some of each of two parts.", "*(1, 3) of axis 0 is none of its parts*", ("shrink",)),
        Fault("A split axis is padded.", "*all of it is real: it cannot be padded*", ("pad",)),
        Fault("A split axis is turned round.", "*its elements stay in their order*", ("flip",)),
        Fault("Every second element of a split axis is taken.", "*in their order, every one*", ("stride",)),
        Fault("Operands have no real part in common.", "*no real part in common*", ("disjoint",)),
    ),
)
