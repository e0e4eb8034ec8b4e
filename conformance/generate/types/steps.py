"""Steps of typed programs: for each operation the attributes that fit an operand, and the shape of what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from conformance.cases.program.program import Attr
from conformance.generate import choices
from conformance.generate.choices import Draw

Shape = tuple[int, ...]


class Fitting(NamedTuple):
    """Attributes of an operation, and the shape of its result."""

    attrs: Mapping[str, Attr]
    shape: Shape


def _all_reduce(draw: Draw, shape: Shape, size: int) -> Fitting:
    ops = ["sum", "sum", "sum", "max", "min"] + ["mean"] * 2 * (size.bit_count() == 1)
    return Fitting({"op": draw(choices.within(ops, "op"))}, shape)


def _tiled(draw: Draw, *options: bool) -> bool:
    return draw(choices.within(options, "tiled", lambda tiled: str(tiled).lower()))


def _all_gather(draw: Draw, shape: Shape, size: int) -> Fitting | None:
    tiled = _tiled(draw, False, True)
    to = draw(choices.within(["varying", "invariant", "reduced"], "to"))
    if not tiled:
        axis = draw(choices.integers(0, len(shape)))
        joined = (*shape[:axis], size, *shape[axis:])
        return Fitting({"axis": axis, "tiled": False, "to": to}, joined) if len(shape) < 3 else None
    if not shape:
        return None
    axis = draw(choices.integers(0, len(shape) - 1))
    joined = (*shape[:axis], shape[axis] * size, *shape[axis + 1 :])
    return Fitting({"axis": axis, "tiled": True, "to": to}, joined)


def _split(draw: Draw, shape: Shape, size: int, *, tiled: bool) -> tuple[int, Shape] | None:
    """Draw an axis that divides into ``size`` pieces, and return it and the shape of a piece."""
    fitting = [at for at, extent in enumerate(shape) if (extent % size == 0 if tiled else extent == size)]
    if not fitting:
        return None
    axis = draw(choices.sampled_from(fitting))
    return axis, (*shape[:axis], *((shape[axis] // size,) if tiled else ()), *shape[axis + 1 :])


def _reduce_scatter(draw: Draw, shape: Shape, size: int) -> Fitting | None:
    tiled = _tiled(draw, False, True)
    found = _split(draw, shape, size, tiled=tiled)
    return found and Fitting({"op": "sum", "axis": found[0], "tiled": tiled}, found[1])


def _all_to_all(draw: Draw, shape: Shape, size: int) -> Fitting | None:
    tiled = _tiled(draw, True, True, False)
    found = _split(draw, shape, size, tiled=tiled)
    if found is None:
        return None
    split, piece = found
    concat = draw(choices.integers(0, len(shape) - 1))
    grown = piece[concat] * size if tiled else size
    joined = (*piece[:concat], grown, *piece[concat + tiled :])
    return Fitting({"split_axis": split, "concat_axis": concat, "tiled": tiled}, joined)


def ragged(draw: Draw, sent: Shape, written: Shape, size: int) -> Fitting | None:
    """Draw slices of one or two for each pair of members, some without rows, read anywhere and written side by side."""
    if not sent or not written or sent[1:] != written[1:]:
        return None
    each = draw(choices.integers(1, 2))
    starts, counts, places = ([[0] * (size * each) for _ in range(size)] for _ in range(3))
    arriving = [[0] * (size * each) for _ in range(size)]
    for receiver in range(size):
        free = 0
        for sender in range(size):
            for number in range(receiver * each, (receiver + 1) * each):
                count = draw(choices.integers(0, min(2, sent[0], written[0] - free)))
                gap = draw(choices.sampled_from([0, 0, 1])) if free + count < written[0] else 0
                starts[sender][number] = draw(choices.integers(0, sent[0] - count))
                counts[sender][number], places[sender][number] = count, free + gap
                arriving[receiver][sender * each + number % each] = count
                free += gap + count
    tables = zip(
        ("input_offsets", "send_sizes", "output_offsets", "recv_sizes"), (starts, counts, places, arriving), strict=True
    )
    return Fitting({name: tuple(map(tuple, rows)) for name, rows in tables}, written)


def _permute(draw: Draw, shape: Shape, size: int) -> Fitting:
    destinations = draw(choices.permutations(range(size)))
    count = draw(choices.integers(0, size))
    return Fitting({"pairs": tuple(enumerate(destinations))[: size - count]}, shape)


def _shuffle(draw: Draw, shape: Shape, size: int) -> Fitting:
    return Fitting({"sources": tuple(draw(choices.permutations(range(size))))}, shape)


def _broadcast(draw: Draw, shape: Shape, size: int) -> Fitting:
    return Fitting({"root": draw(choices.integers(0, size - 1))}, shape)


FITTING: Final[dict[str, Callable[[Draw, Shape, int], Fitting | None]]] = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
    "permute": _permute,
    "shuffle": _shuffle,
    "broadcast": _broadcast,
}
"""Collectives with one operand, but for the cast. A function gives nothing where the shape does not fit."""
