"""The listed reductions of sharded cases: those of their programs, a device or a placement less."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from conformance.cases.graph.case import GraphCase
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, Placement, Split, even_cuts, world
from conformance.runner.reductions.graph_cases import graph_case_reductions
from conformance.runner.reductions.leaps import graph_case_leaps


def sharded_reductions(case: ShardedCase) -> Iterator[ShardedCase]:
    """Yield every case that is one listed reduction smaller, the boldest first; some may be malformed."""
    for of in graph_case_reductions(case.of):
        yield _of(case, of)
    yield from _fewer_devices(case)
    yield from _plainer(case)
    if case.devices != tuple(range(case.world)):
        yield replace(case, devices=tuple(range(case.world)))


def sharded_leaps(case: ShardedCase) -> Iterator[ShardedCase]:
    """Yield the leaps of a case's program."""
    yield from (_of(case, of) for of in graph_case_leaps(case.of))


def _of(case: ShardedCase, of: GraphCase) -> ShardedCase:
    """Return a case with another program: what is gone from it is placed nowhere."""
    placeable = {node.id for node in of.graph.nodes if node.op in ("copy", "reduce")}
    return replace(
        case,
        of=of,
        homes={name: each for name, each in case.homes.items() if name in of.buffers},
        moves={name: each for name, each in case.moves.items() if name in placeable},
    )


def _fewer_devices(case: ShardedCase) -> Iterator[ShardedCase]:
    """Yield the case with a mesh axis less, or one device less along one."""
    for number, axis in enumerate(case.mesh):
        if len(case.mesh) > 1:
            mesh = (*case.mesh[:number], *case.mesh[number + 1 :])
            yield _on(case, mesh, lambda each, name=axis.name: _without(each, name))
        if axis.size > 1:
            smaller = Axis(name=axis.name, size=axis.size - 1)
            mesh = (*case.mesh[:number], smaller, *case.mesh[number + 1 :])
            yield _on(case, mesh, lambda each, name=axis.name: _shorter(each, name))


def _on(case: ShardedCase, mesh: tuple[Axis, ...], change: object) -> ShardedCase:
    assert callable(change)
    return replace(
        case,
        mesh=mesh,
        devices=tuple(range(world(mesh))),
        homes={name: change(each) for name, each in case.homes.items()},
        moves={name: change(each) for name, each in case.moves.items()},
    )


def _without(placement: Placement, name: str) -> Placement:
    return replace(
        placement,
        splits=tuple(split for split in placement.splits if name not in split.along),
        partial={each: fold for each, fold in placement.partial.items() if each != name},
        masks={each: mask for each, mask in placement.masks.items() if each != name},
    )


def _shorter(placement: Placement, name: str) -> Placement:
    """Return a placement with the last two parts along a mesh axis as one."""
    splits = tuple(
        replace(split, cuts=(*split.cuts[:-2], split.cuts[-1])) if split.along == (name,) else split
        for split in placement.splits
    )
    return replace(placement, splits=splits, masks={each: mask[:-1] for each, mask in placement.masks.items()})


def _plainer(case: ShardedCase) -> Iterator[ShardedCase]:
    """Yield the case with one tensor replicated, split as by default, or all real."""
    for name, each in case.homes.items():
        rest = {other: at for other, at in case.homes.items() if other != name}
        yield replace(case, homes=rest)
        for plainer in _plain(each):
            yield replace(case, homes={**rest, name: plainer})
    for name, each in case.moves.items():
        if each != REPLICATED and not each.partial:
            yield replace(case, moves={**case.moves, name: REPLICATED})
        if each.partial:
            yield replace(case, moves={other: at for other, at in case.moves.items() if other != name})
        for plainer in _plain(each):
            yield replace(case, moves={**case.moves, name: plainer})


def _plain(placement: Placement) -> Iterator[Placement]:
    for number, split in enumerate(placement.splits):
        rest = placement.splits
        even = Split(axis=split.axis, along=split.along, cuts=even_cuts(split.cuts[-1], len(split.cuts) - 1))
        if even != split:
            yield replace(placement, splits=(*rest[:number], even, *rest[number + 1 :]))
        if len(rest) > 1:
            yield replace(placement, splits=(*rest[:number], *rest[number + 1 :]))
