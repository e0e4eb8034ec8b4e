"""What the steps of typed programs are drawn from: operations, meshes, and the rules that refuse some of them."""

from __future__ import annotations

from typing import Final, NamedTuple

from conformance.cases.program.program import Axis
from conformance.cases.types.starts import DONES
from conformance.generate.types.steps import FITTING

MESHES: Final = ((2,), (4,), (2, 2), (3,), (1, 2), (2, 1, 2), (2, 2, 2), (1,), (2, 3))
WIDE: Final = ((3,), (4,), (2, 2), (2, 3))
"""Meshes on which groups of one step may differ in size."""

NAMES: Final = ("i", "j", "k")
LONGEST: Final = 6
NEVER: Final = 0
"""No step is started."""

TRIES: Final = 8
"""How often a step is drawn again until it is well-typed."""

LARGEST: Final = 512
"""Elements of a block, at most: a step that would make a larger one is left out."""

PAIRS: Final = ("add", "multiply", "subtract", "maximum")
MANY: Final = (
    *["cast"] * 7,
    "all_reduce",
    "all_gather",
    "axis_index",
    *["ragged_all_to_all"] * 3,
    "negate",
    "sum",
    *["add", "multiply"] * 2,
)
UNCHECKED: Final = ("all_reduce",) * 8
"""More of what has groups and local axes only where no value has a type."""

EMPTY: Final = ("sum",) * 8
"""More of what makes something of blocks without elements."""

LINEAR: Final = (*["cast"] * 4, *["all_reduce"] * 4, *["all_gather"] * 5, *["ragged_all_to_all", "all_to_all"] * 2)


class Grammar(NamedTuple):
    """What the steps of a program are drawn from, and its mesh.

    Some of the ``ops`` stand there more often: those with most rules. One program in ``unchecked`` has no types.
    One for which ``refused`` is drawn true ends in a step that a rule refuses. Of the steps that can be started one in
    ``starts`` is, and where it ``shows_starts`` one program in five begins with a start of the table. Steps may name
    ``levels``.
    """

    ops: tuple[str, ...]
    meshes: tuple[tuple[int, ...], ...] = MESHES
    unchecked: int = 12
    refused: tuple[bool, ...] = (False, False, False, False, True)
    starts: int = 2
    shows_starts: bool = False
    levels: tuple[Axis, ...] = ()


TYPING: Final = Grammar((*FITTING, *MANY, *PAIRS), shows_starts=True)
BACK: Final = Grammar(
    (*FITTING, *FITTING, *LINEAR, "add", "multiply", "negate", "subtract", "sum"),
    unchecked=4,
    refused=(*[False] * 11, True),
    starts=30,
)
FORTH: Final = BACK._replace(refused=(False,))
LOWERED: Final = Grammar(
    (*FITTING, *FITTING, "axis_index", "ragged_all_to_all", "cast", "negate"),
    unchecked=2,
    refused=(False,),
    starts=4,
)
ACROSS: Final = Grammar(
    (*FITTING, *["permute", "all_reduce", "axis_index", "all_gather"], "ragged_all_to_all", "negate", "add"),
    # Every slice counts as a rank.
    meshes=((2,), (3,), (2, 2), (1, 2), (4,)),
    unchecked=5,
    starts=30,
)

WAYS: Final = {
    "types.C1": (*FITTING, "cast", "axis_index"),
    "types.C2": (*FITTING, *PAIRS, "axis_index"),
    "types.C3": ("cast",),
    "types.C4": ("cast", "all_reduce", "reduce_scatter"),
    "types.C5": (*FITTING, *PAIRS),
    "types.C6": ("all_gather",),
    "types.C7": ("all_reduce",),
    "types.C8": PAIRS,
    "types.C9": ("add", "subtract", "maximum"),
    "types.C10": ("multiply",),
    "types.C15": ("all_reduce", "all_gather", "reduce_scatter"),
    "types.C16": ("all_reduce",),
    "types.C17": ("all_gather",),
    "starts.C8": ("done",),
    "starts.C9": ("done",),
    "starts.C10": (*DONES, *PAIRS, "cast", "negate", "sum"),
}
"""The rules that refuse, and operations that each may refuse."""

MANIFOLD: Final = ("types.C3", "types.C3", "types.C4", "types.C5", "types.C8")
"""Rules that refuse more than one kind of step each, which are drawn more often than the others."""

PENDING: Final = ("types.C7", "types.C8", "types.C9", "types.C10")
"""Rules about what a cast makes unreduced or reduced: few other steps are between that and what is refused."""

TRIES_OF_A_RULE: Final = 25
"""How often a step is drawn again until its rule refuses it: every rule is met once in some 30 programs then."""

AFTER_CAST: Final = (*PAIRS * 5, *["all_reduce"] * 6, "reduce_scatter")
"""Operations after a cast, beside all others: more of those whose operands have to agree."""
