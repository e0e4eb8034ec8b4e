"""The vocabulary of calls: how each attribute is drawn that operations have, whichever of them has it.

A call that stands alone (``Draft.lone``) is now and then barely illegal, in an attribute or an extent; one that stands
among others is legal. One on a block that is there already, as chains make them, takes its shape.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from conformance.cases.program.program import Attr
from conformance.generate import choices
from conformance.generate.calls.call import SIZES, Call, Drawn, Wanted, great, shape_of
from conformance.generate.calls.decisive_values import Values
from conformance.generate.calls.draft import TILED, Draft
from conformance.generate.calls.mistakes import wrong
from conformance.generate.calls.reductions import Reduction, local_axes, reduction
from conformance.generate.calls.shapes import Shape, axis_beside, axis_of, beyond, root_of, same_axis, split
from conformance.reference.operations import FOLDED, TABLE
from conformance.reference.situations import axis_word, rank_word
from conformance.reference.spmd import ATTRIBUTES, DEFAULTS, flags
from conformance.specs.families.pairs import Pairs

_WRONG_AXIS: Final = {name: wrong(name, [False] * 21, [True]) for name in ("axis", "split_axis", "concat_axis")}
_WRONG_ROOT: Final = wrong("root", ["right"] * 15, ["beyond", "negative"])
_WRONG_PAIRS: Final = wrong("pairs", ["none"] * 9, ["source", "destination", "beyond", "negative"])
_WRONG_SOURCES: Final = wrong("sources", ["none"] * 17, ["repeat", "beyond", "short"])
_REMAINDER: Final = {
    True: wrong("remainder", ["none"] * 12, ["more", "less"]),
    False: wrong("remainder", ["none"] * 18, ["more", "less", "twice"]),
}
"""How an extent does not split, of tiled calls and others: it is one more or one less than would.

Where the axis has one slice for each member, it may also be twice as much."""
_SCALAR: Final = wrong("rank", [False] * 19, [True])
"""Whether a block has no axis at all, where one is to be joined or split."""
_OTHER_AXIS: Final = wrong("other axis", [False] * 4, [True])
_EMPTY: Final = choices.sampled_from([None] * 9 + [(0,), (2, 0), (0, 3), (2, 0, 1)])
"""Blocks without elements, of which a mean is asked for too: left to chance there were 3 means of nothing."""
_BOOLEANS: Final = choices.booleans()


def call_of(draw: choices.Draw, op: str, drawn: Draft, wanted: Wanted, folds: Reduction | None = None) -> Drawn | None:
    """Draw a call of an operation; ``None`` where a block that is there has none, or none that is known.

    ``folds`` is the reduction that it has, with the pool of its data, where that is drawn already.
    """
    row, attrs, shape = TABLE[op], dict[str, Attr](), wanted if isinstance(wanted, tuple) else None
    values: Values = "any"
    draw = draw if drawn.lone else choices.Draw(draw.source, draw.goals.legal())
    if row.does == "reduce":
        found = folds or reduction(draw, drawn, op, there=shape is not None)
        if found is None:
            return None
        drawn, of_reduction, values = found
        attrs |= of_reduction
        if drawn.lone and folds is None and op in FOLDED and not row.sized and draw(_BOOLEANS) and draw(_BOOLEANS):
            shape = draw(_EMPTY)
    if "tiled" in row.attributes:
        cut = _joined(draw, drawn, wanted) if row.does == "gather" else _cut(draw, op, drawn, wanted)
        if cut is None:
            return None
        shape, more = cut
        attrs |= more
    shape = shape_of(draw, drawn, wanted) if shape is None else shape
    size = drawn.group_size
    if "root" in row.attributes:
        how = draw(_WRONG_ROOT)
        attrs["root"] = {"beyond": size, "negative": -1}[how] if how != "right" else draw(root_of(size))
    if "pairs" in row.attributes:
        attrs["pairs"] = draw(pairs_near(size))
    if "sources" in row.attributes:
        attrs["sources"] = _sources(draw, size)
    attrs |= {name: draw(_BOOLEANS) for name in flags(op)}
    if "local_axes" in row.attributes and isinstance(values, str) and (drawn.lone or drawn.once):
        local, values = local_axes(draw, drawn, shape, values)
        attrs |= {"local_axes": local} if local else {}
    # What no other operation has, its own ``calls`` draws, with a block to go with it.
    known = ATTRIBUTES[op].keys() - DEFAULTS[op].keys() <= attrs.keys()
    return (drawn, Call(op, attrs, (shape,) * drawn.world, values)) if known else None


def _joined(draw: choices.Draw, drawn: Draft, wanted: Wanted) -> tuple[Shape, dict[str, Attr]]:
    """Draw a shape, whether blocks are joined along an axis that they have, and the axis, or one just beyond."""
    # A block without axes has no axis to be concatenated along.
    tiled = draw(TILED) and wanted != ()
    shape = shape_of(draw, drawn, wanted, 0 if draw(_SCALAR) else tiled)
    return shape, {"axis": axis_near(draw, len(shape) + (not tiled), "axis"), "tiled": tiled}


def _cut(draw: choices.Draw, op: str, drawn: Draft, wanted: Wanted) -> tuple[Shape, dict[str, Attr]] | None:
    """Draw a shape and an axis of it that splits into a piece a member, or just fails to; where to put the pieces."""
    size = drawn.group_size
    if isinstance(wanted, tuple):
        fits = [(at, True) for at, extent in enumerate(wanted) if extent % size == 0]
        fits += [(at, False) for at, extent in enumerate(wanted) if extent == size]
        if not fits:
            return None
        shape, (at, tiled) = wanted, draw.one(fits)
    elif wanted in SIZES:
        tiled = draw(TILED)
        shape, at = draw(_long_splits(-(-great(drawn, wanted) // size), size, tiled))
    else:
        tiled = wanted == "empty" or draw(TILED)
        shape, at = split(draw, drawn.width, size, tiled=tiled, empty=wanted == "empty")
        how = draw(_REMAINDER[tiled])
        more = {"none": 0, "more": 1, "less": -1 if shape[at] else 1, "twice": shape[at]}[how]
        shape = () if draw(_SCALAR) else (*shape[:at], shape[at] + more, *shape[at + 1 :])
    name = "split_axis" if "split_axis" in TABLE[op].attributes else "axis"
    attrs: dict[str, Attr] = {name: _axis_like(draw, at, len(shape), name), "tiled": tiled}
    if "concat_axis" in TABLE[op].attributes:
        # Every other time the same axis: the result then takes the operand's place.
        attrs["concat_axis"] = axis_near(draw, len(shape), "concat_axis") if draw(_BOOLEANS) else attrs[name]
    return shape, attrs


@cache
def _long_splits(piece: int, size: int, tiled: bool) -> choices.Choice[tuple[Shape, int]]:
    """Return shapes of so many pieces, and the axis that is split."""
    found: list[tuple[Shape, int]] = [((piece * size,), 0), ((2, -(-piece // 2) * size), 1), ((size, 2, piece), 0)]
    if not tiled:
        found = [((size, piece), 0), ((piece, size), 1), ((2, size, -(-piece // 2)), 1)]
    return choices.steered(
        found, ("rank", "axis"), lambda one: (rank_word(len(one[0])), axis_word(one[1], len(one[0])))
    )


def axis_near(draw: choices.Draw, rank: int, name: str) -> int:
    """Draw an axis of ``rank`` axes from both ends, and now and then one beyond."""
    return draw(axis_beside(rank) if rank == 0 or draw(_WRONG_AXIS[name]) else axis_of(rank))


def _axis_like(draw: choices.Draw, at: int, rank: int, name: str) -> int:
    """Draw a name of an axis from both ends, seldom of another, and now and then one beyond.

    Beyond it is by so much that an implementation that counts in circles would take it for ``at``.
    """
    if rank == 0:
        return axis_near(draw, 0, name)
    if draw(_WRONG_AXIS[name]):
        return draw(_beyond(at, rank))
    return draw(axis_of(rank) if rank > 1 and draw(_OTHER_AXIS) else same_axis(at, rank))


@cache
def _beyond(at: int, rank: int) -> choices.Choice[int]:
    return beyond([(at + rank, "wrapped"), (rank, "past"), (at - 2 * rank, "wrapped"), (-rank - 1, "before")])


@choices.composite
def pairs_near(draw: choices.Draw, size: int) -> Pairs:
    """Draw pairs over ``size`` positions: full, partial or none, now and then with one position misused."""
    sources = draw(choices.permutations(range(size)))
    destinations = draw(choices.permutations(range(size)))
    swapped = [position ^ 1 if position ^ 1 < size else position for position in sources]
    count = draw(choices.sampled_from([size, size, size, size, size // 2, max(size - 1, 0), 0]))
    pairs = list(zip(sources, draw(choices.sampled_from([destinations, swapped])), strict=True))[:count]
    misuse = draw(_WRONG_PAIRS)
    if len(pairs) > 1 and misuse != "none":
        at = draw.one(sorted({1, len(pairs) - 1, 0}))
        # What is named again was named by the pair before or by one further away.
        one, (source, destination) = pairs[at], pairs[draw.one([at - 1, at - 1 - len(pairs) // 2])]
        pairs[at] = {
            "source": (source, one[1]),
            "destination": (one[0], destination),
            "beyond": (one[0], size),
            "negative": (one[0] - size, one[1]),
        }[misuse]
    return tuple(pairs)


def _sources(draw: choices.Draw, size: int) -> tuple[int, ...]:
    """Draw a permutation of positions and, now and then, a list that is none."""
    sources = draw(choices.permutations(range(size)))
    misuse = draw(_WRONG_SOURCES)
    if misuse in ("repeat", "beyond"):
        sources[0] = sources[-1] if misuse == "repeat" else size
    return tuple(sources[:-1] if misuse == "short" else sources)
