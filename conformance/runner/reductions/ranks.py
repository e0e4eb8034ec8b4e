"""Listed reductions that leave ranks out and keep what moves between the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Groups, Step, rank_groups
from conformance.runner.reductions.rank_faults import among

Pairs = tuple[tuple[int, int], ...]


def rank_reductions(case: Case) -> Iterator[Case]:
    """Yield the case with one group alone, on a mesh of one axis, and without one position of every group.

    Whoever sent to a position that is gone sends to where that one sent.
    """
    if not case.program.collectives:
        return
    groups = _groups(case)
    if groups is None:
        return
    for size in sorted({len(group) for group in groups if 0 < len(group) < case.program.world}):
        yield _on(case, [next(group for group in groups if len(group) == size)], alone=True)
    sizes = {len(group) for group in groups}
    if len(case.program.mesh) > 1:
        yield _on(case, groups, alone=len(groups) == 1)
    if len(sizes) == 1 and (size := sizes.pop()) > 1:
        for gone in reversed(range(size)):
            left = [tuple(rank for at, rank in enumerate(group) if at != gone) for group in groups]
            yield _on(case, left, alone=len(groups) == 1, gone=gone)


def _groups(case: Case) -> Groups | None:
    """Return the groups of ranks that all collectives share, or nothing where they differ or there are none."""
    try:
        found = {rank_groups(case.program.mesh, step.axes, step.groups) for step in case.program.collectives}
    except (KeyError, ValueError, IndexError):
        return None
    groups = found.pop()
    ranks = sorted(rank for group in groups for rank in group)
    return groups if not found and ranks == list(range(case.program.world)) else None


def _on(case: Case, groups: Sequence[tuple[int, ...]], *, alone: bool, gone: int | None = None) -> Case:
    """Return the case on the ranks of ``groups`` alone, which are numbered anew on a mesh of one axis."""
    keep = [rank for group in groups for rank in group] if alone else sorted(rank for group in groups for rank in group)
    new = {rank: number for number, rank in enumerate(keep)}
    axis = Axis(case.program.mesh[0].name, len(keep))
    over = None if alone else tuple(tuple(new[rank] for rank in group) for group in groups)

    def changed(step: Step) -> Step:
        attrs = step.attrs if gone is None else {name: _without(value, gone) for name, value in step.attrs.items()}
        return replace(step, axes=(axis.name,), groups=over, attrs=attrs) if step.axes else step

    program = replace(case.program, mesh=(axis,), steps=tuple(map(changed, case.program.steps)))
    inputs = {
        name: Operand(blocks=tuple(x.blocks[r] for r in keep), layouts=tuple(x.layouts[r] for r in keep))
        for name, x in case.inputs.items()
    }
    return among(replace(case, program=program, inputs=inputs), keep)


def _without(value: object, gone: int) -> object:
    """Return an attribute that lists positions without one of them: pairs, or a permutation."""
    if not isinstance(value, tuple | list) or not value:
        return value
    if all(isinstance(each, tuple | list) and len(each) == 2 for each in value):
        return contracted(tuple((int(a), int(b)) for a, b in value), gone)
    if all(type(each) is int for each in value) and sorted(value) == list(range(len(value))):
        moved = [value[gone] if each == gone else each for at, each in enumerate(value) if at != gone]
        return tuple(each - (each > gone) for each in moved)
    return value


def contracted(pairs: Pairs, gone: int) -> Pairs:
    """Return pairs of positions without one of them: who sent to it sends to where it sent, if it did."""
    onward = next((target for source, target in pairs if source == gone), gone)
    left = [(source, onward if target == gone else target) for source, target in pairs if source != gone]
    return tuple((s - (s > gone), t - (t > gone)) for s, t in left if t != gone)
