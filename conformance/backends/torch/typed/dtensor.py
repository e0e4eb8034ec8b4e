"""Typed programs on distributed tensors: ``Partial`` is unreduced, ``Replicate`` invariant and ``Shard`` varying.

A value is a ``DTensor`` with a leading dimension for each axis of the mesh. Where the value varies along the axis the
dimension has its size and is sharded over it, and elsewhere it has the extent 1. So a local operation that casts an
operand by itself is a broadcast, and a sum over a leading dimension is what is left to be reduced.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch
from torch.distributed._functional_collectives import AsyncCollectiveTensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.cases.types.axis_type import AxisType, State
from conformance.cases.types.typed_program import TypedProgram, TypedStep

LOCAL: Final[Mapping[str, Callable[..., Any]]] = {
    "add": torch.add,
    "maximum": torch.maximum,
    "multiply": torch.mul,
    "negate": torch.neg,
    "subtract": torch.sub,
}

Label = tuple[str, int]
"""What a dimension is: the place along an axis of the mesh, or a part of an axis of the block."""


class Placed:
    """A program on the mesh of its ranks."""

    def __init__(self, program: TypedProgram, mesh: DeviceMesh) -> None:
        """Begin with no value."""
        self.program, self.mesh = program, mesh
        self.names = [axis.name for axis in program.mesh]
        self.sizes = [axis.size for axis in program.mesh]

    def run(self, given: Mapping[str, torch.Tensor]) -> tuple[dict[str, AxisType], dict[str, torch.Tensor]]:
        """Return the type that each step makes, and this rank's block of each result: of an unreduced one the sum."""
        values = {name: self._entered(block, self.program.inputs[name].varying) for name, block in given.items()}
        for step in self.program.steps:
            values[step.output] = self._made(step, [values[name] for name in step.inputs])
        types = {step.output: self._type(values[step.output]) for step in self.program.steps}
        return types, {name: self._block(values[name]) for name in self.program.results}

    def _entered(self, block: torch.Tensor, varying: Sequence[str]) -> DTensor:
        placements = [Shard(k) if name in varying else Replicate() for k, name in enumerate(self.names)]
        with framework():
            local = block.reshape((*[1] * len(self.names), *block.shape))
            return DTensor.from_local(local, self.mesh, placements, run_check=False)

    def _type(self, value: DTensor) -> AxisType:
        states: dict[str, State] = {name: _state(at) for name, at in zip(self.names, value.placements, strict=True)}
        found = {state: tuple(sorted(n for n in states if states[n] == state)) for state in ("varying", "unreduced")}
        return AxisType(varying=found["varying"], unreduced=found["unreduced"])

    def _block(self, value: DTensor) -> torch.Tensor:
        pending = [k for k, at in enumerate(value.placements) if isinstance(at, Partial)]
        value = self._placed(value, dict.fromkeys(pending, Replicate()))
        with framework():
            local = value.to_local()
            local = local.wait() if isinstance(local, AsyncCollectiveTensor) else local
            return local.reshape(local.shape[len(self.names) :])

    def _placed(self, value: DTensor, along: Mapping[int, Placement]) -> DTensor:
        """Return a value with other placements along some axes of the mesh."""
        placements = [along.get(k, at) for k, at in enumerate(value.placements)]
        with framework():
            return value.redistribute(self.mesh, placements)

    def _varying(self, value: DTensor, leads: Sequence[int]) -> DTensor:
        """Return a value that varies along the axes: where every rank has the same it is repeated and sharded."""
        fresh = [k for k in leads if isinstance(value.placements[k], Replicate)]
        shape = [self.sizes[k] if k in fresh else extent for k, extent in enumerate(value.shape)]
        with framework():
            wide: Any = value.expand(shape) if fresh else value
        return self._placed(wide, {k: Shard(k) for k in fresh})

    def _pending(self, value: DTensor, leads: Sequence[int]) -> DTensor:
        """Return the sum over the axes that is still to be made."""
        rest = [k for k in leads if not isinstance(value.placements[k], Partial)]
        wide = self._varying(value, rest)
        with framework():
            found: Any = torch.sum(wide, dim=rest, keepdim=True, dtype=wide.dtype) if rest else wide
        return found  # type: ignore[no-any-return]  # a DTensor, of one

    def _made(self, step: TypedStep, operands: list[DTensor]) -> DTensor:
        first = len(self.names)
        if step.op == "sum":
            with framework():
                summed: Any = torch.sum(operands[0], first + int(str(step.attrs["axis"])), dtype=operands[0].dtype)
            return summed  # type: ignore[no-any-return]  # a DTensor, of one
        if step.op in LOCAL:
            with framework():
                return LOCAL[step.op](*operands)  # type: ignore[no-any-return]  # as above
        if not step.axes:
            return operands[0]
        leads = [self.names.index(axis) for axis in step.axes]
        made: Callable[..., DTensor] = getattr(self, f"_{step.op}")
        return made(operands[0], leads, **step.attrs)

    def _cast(self, value: DTensor, leads: list[int], *, to: str) -> DTensor:
        if to == "reduced":
            raise Unsupported("no placement of a DTensor is reduced")
        return self._pending(value, leads) if to == "unreduced" else self._varying(value, leads)

    def _all_reduce(self, value: DTensor, leads: list[int], *, op: str) -> DTensor:
        to = dict.fromkeys(leads, Replicate())
        if op == "sum":
            return self._placed(self._pending(value, leads), to)
        if op == "mean" and any(isinstance(value.placements[k], Partial) for k in leads):
            # What is pending is a sum, of which each member has a term.
            summed = self._placed(self._pending(value, leads), to)
            with framework():
                return summed / math.prod(self.sizes[k] for k in leads)  # type: ignore[return-value]  # a DTensor, of one
        wide = self._varying(value, leads)
        with framework():
            if op == "mean":
                left: Any = torch.mean(wide, dim=leads, keepdim=True)
            else:
                left = (torch.amax if op == "max" else torch.amin)(wide, dim=leads, keepdim=True)
        return self._placed(left, to)

    def _all_gather(self, value: DTensor, leads: list[int], *, axis: int, tiled: bool, to: str) -> DTensor:
        if to == "reduced":
            raise Unsupported("no placement of a DTensor is reduced")
        whole = self._placed(self._varying(value, leads), dict.fromkeys(leads, Replicate()))
        members: list[Label] = [("place", k) for k in leads]
        blocks: list[list[Label]] = [[("block", at)] for at in range(value.ndim - len(self.names))]
        if tiled:
            blocks[axis] = [*members, *blocks[axis]]
        else:
            blocks.insert(axis, members)
        places = [[] if k in leads else [("place", k)] for k in range(len(self.names))]
        found = self._arranged(whole, self._labels(value.ndim), [*places, *blocks])
        return self._varying(found, leads) if to == "varying" else found

    def _reduce_scatter(self, value: DTensor, leads: list[int], *, op: str, axis: int, tiled: bool) -> DTensor:
        del op  # a sum, by the attribute's domain
        cut, labels = self._cut(self._pending(value, leads), leads, axis)
        spread = self._placed(cut, {k: Shard(labels.index(("to", k))) for k in leads})
        blocks: list[list[Label]] = [[("block", at)] for at in range(value.ndim - len(self.names))]
        if not tiled:
            blocks[axis] = []
        return self._moved_in(spread, labels, leads, [block for block in blocks if block])

    def _all_to_all(
        self, value: DTensor, leads: list[int], *, split_axis: int, concat_axis: int, tiled: bool
    ) -> DTensor:
        cut, labels = self._cut(self._varying(value, leads), leads, split_axis)
        spread = self._placed(cut, {k: Shard(labels.index(("to", k))) for k in leads})
        members: list[Label] = [("place", k) for k in leads]
        blocks: list[list[Label]] = [[("block", at)] for at in range(value.ndim - len(self.names))]
        if tiled:
            blocks[concat_axis] = [*members, *blocks[concat_axis]]
        else:
            del blocks[split_axis]
            blocks.insert(concat_axis, members)
        return self._moved_in(spread, labels, leads, blocks)

    def _cut(self, value: DTensor, leads: list[int], axis: int) -> tuple[DTensor, list[Label]]:
        """Return a value whose local axis is cut into a piece for each member, and what its dimensions are."""
        at = len(self.names) + axis
        sizes = [self.sizes[k] for k in leads]
        with framework():
            whole: Any = value
            cut: Any = whole.unflatten(at, (*sizes, value.shape[at] // math.prod(sizes)))
        labels = self._labels(value.ndim)
        return cut, [*labels[:at], *[("to", k) for k in leads], *labels[at:]]

    def _moved_in(self, value: DTensor, labels: list[Label], leads: list[int], blocks: list[list[Label]]) -> DTensor:
        places = [[("to", k)] if k in leads else [("place", k)] for k in range(len(self.names))]
        return self._arranged(value, labels, [*places, *blocks])

    def _labels(self, rank: int) -> list[Label]:
        first = len(self.names)
        return [("place", k) if k < first else ("block", k - first) for k in range(rank)]

    def _arranged(self, value: DTensor, labels: list[Label], wanted: list[list[Label]]) -> DTensor:
        """Return a value with a dimension for each list of ``wanted``: its labels joined, or extent 1."""
        extents = dict(zip(labels, value.shape, strict=True))
        order = [label for group in wanted for label in group]
        rest = [label for label in labels if label not in order]
        with framework():
            turned: Any = value.permute([labels.index(label) for label in (*order, *rest)])
            found: Any = turned.reshape([math.prod(extents[label] for label in group) for group in wanted])
        return found  # type: ignore[no-any-return]  # a DTensor, of one


def _state(at: Placement) -> State:
    if isinstance(at, Partial):
        return "unreduced"
    return "invariant" if isinstance(at, Replicate) else "varying"
