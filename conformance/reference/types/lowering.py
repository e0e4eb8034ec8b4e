"""What the steps of a typed program must come to when they are lowered: which ranks meet, and in which order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast as cast_to

from conformance.cases.program.program import Groups, rank_groups
from conformance.cases.types.lowered import FILL, GLOBAL, Lowered
from conformance.cases.types.typed_program import LOCAL, TypedProgram, TypedStep


def lowered(program: TypedProgram) -> list[Lowered]:
    """Return what each step comes to, in order: casts, waits and operations of one rank to nothing."""
    return [made for _, made in by_step(program)]


def by_step(program: TypedProgram) -> list[tuple[TypedStep, Lowered]]:
    """Return what each step comes to beside the step, in order."""
    return [(step, made) for step in program.steps for made in _of_step(program, step)]


def _of_step(program: TypedProgram, step: TypedStep) -> Iterator[Lowered]:
    if step.op in LOCAL or step.op in ("cast", "done") or not step.axes:
        return
    if step.op == "axis_index":
        yield from _index(program, step)
        return
    groups = rank_groups(program.mesh, step.axes, step.groups)
    op = "permute" if step.op == "shuffle" else step.op
    reducer = {"mean": "sum"}.get(str(step.attrs.get("op", "")), str(step.attrs.get("op", "")))
    yield Lowered(
        op=op,
        groups=_ranks(step, groups),
        reducer=reducer,
        global_ids=op in GLOBAL,
        started=step.start,
        dones=sum(other.op == "done" and other.inputs == (step.output,) for other in program.steps),
        dimensions=dimensions(step, len(groups[0])),
        channel=True,
        manual=tuple(sorted(program.names)),
    )


def dimensions(step: TypedStep, members: int) -> tuple[int, ...]:
    """Return the axes that a lowered step names, and into how many pieces an exchange cuts.

    An untiled exchange inserts the axis along which pieces are joined, and drops the one that was split afterwards.
    """
    if step.op in ("all_gather", "reduce_scatter"):
        return (cast_to(int, step.attrs["axis"]),)
    if step.op != "all_to_all":
        return ()
    split, joined = cast_to(int, step.attrs["split_axis"]), cast_to(int, step.attrs["concat_axis"])
    if not step.attrs["tiled"] and split != joined:
        split, joined = (split, joined + 1) if split < joined else (split + 1, joined)
    return split, joined, members


def _ranks(step: TypedStep, groups: Groups) -> Groups:
    if step.op in ("permute", "recv", "send", "shuffle"):
        return tuple((group[source], group[target]) for group in groups for source, target in _pairs(step))
    if step.op == "broadcast":
        root = cast_to(int, step.attrs["root"])
        return tuple((group[root], *group[:root], *group[root + 1 :]) for group in groups)
    most = max(map(len, groups))
    return tuple((*group, *[FILL] * (most - len(group))) for group in groups)


def _pairs(step: TypedStep) -> Groups:
    if step.op == "shuffle":
        sources = cast_to(tuple[int, ...], step.attrs["sources"])
        return tuple((source, target) for target, source in enumerate(sources))
    return cast_to(Groups, step.attrs["pairs"])


def _index(program: TypedProgram, step: TypedStep) -> Iterator[Lowered]:
    """The place along an axis is the id divided by the ranks behind it, and of that the remainder."""
    sizes = {axis.name: axis.size for axis in program.mesh}
    order = list(sizes)
    for number, axis in enumerate(step.axes):
        behind = math.prod(sizes[other] for other in order[order.index(axis) + 1 :])
        minor = math.prod(sizes[other] for other in step.axes[number + 1 :])
        # An index is of the whole mesh: where the program is mapped over a part of it, inside one over the rest.
        yield Lowered(op="axis_index", index=(behind, sizes[axis], minor), id="partition", manual=tuple(sorted(order)))
