"""Right implementations of graphs and of sharded tensors: other orders of operations, and other placements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from conformance.backends.base import Held
from conformance.backends.reference import Reference
from conformance.backends.reference.sharded import ShardedWalk
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, Layout, Placement, Split, world
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.qualification.graph_mutants import excess
from conformance.qualification.graph_mutants.eager import EagerBackend
from conformance.reference.graph.evaluate import BoundedValue, Evaluation, evaluated
from conformance.reference.graph.evaluate import run as validated
from conformance.reference.sharded.evaluate import run_sharded
from conformance.reference.sharded.parts import Parts


class _Computing(Reference):
    """Computes some nodes of a graph by ``other``, and all others as the oracle does."""

    kind = "tensors"

    def run_graph(self, case: GraphCase) -> dict[str, Array]:
        validated(case)  # which refuses what has no meaning
        terms: dict[str, tuple[Array, ...]] = {}

        def then(node: Node, within: Evaluation) -> None:
            found = within.meanings[node.id]
            if not isinstance(found, BoundedValue):
                return
            of = [within.value_of(within.meanings[name]).array for name in node.of]
            made = self.other(node, of, [terms.get(name) for name in node.of], found.array)
            terms[node.id] = tuple(of)
            within.meanings[node.id] = replace(found, array=np.asarray(made, found.array.dtype))

        return {key: meant.array for key, meant in evaluated(case, then).results.items()}

    def other(self, node: Node, of: list[Array], terms: list[tuple[Array, ...] | None], made: Array) -> Array:
        """Return the value of a node, of its sources, what these were computed of, and the oracle's value."""
        raise NotImplementedError


class SumsOfNothingAreMinusZero(_Computing):
    """Rust's ``sum`` begins at -0.0, which changes no number: of nothing that is the sum."""

    def other(self, node: Node, of: list[Array], terms: list[tuple[Array, ...] | None], made: Array) -> Array:
        nothing = node.op == "reduce" and node.fold == "add" and not of[0].size
        return np.negative(made) if nothing and kind(logical(made.dtype)) == "float" else made


class FoldsFromTheLast(_Computing):
    """A kernel that counts down adds the last element first."""

    def other(self, node: Node, of: list[Array], terms: list[tuple[Array, ...] | None], made: Array) -> Array:
        if node.op != "reduce" or node.acc or node.fold not in ("add", "mul") or not of[0].size:
            return made
        axes = [axis for axis in node.arg if isinstance(axis, int)] if isinstance(node.arg, tuple) else []
        ufunc = np.add if node.fold == "add" else np.multiply
        rows = np.moveaxis(np.flip(of[0], tuple(axes)), axes, range(len(axes))).reshape(-1, *made.shape)
        with np.errstate(all="ignore"):
            return np.asarray(ufunc.accumulate(rows, axis=0)[-1])


class _Placing(Reference):
    """Leaves computed values elsewhere than the rules of the source do; what is moved goes where that was asked for."""

    kind = "tensors"
    walk: ClassVar[type[ShardedWalk]] = ShardedWalk

    def run_sharded(self, case: ShardedCase) -> dict[str, Held]:
        run_sharded(case)
        return self.walk(case).run()


class _Whole(Parts):
    """A computed value, of which ``_Apart`` says where it is."""


class _Apart(ShardedWalk):
    """Computes everything whole, and tells of computed values in parts of its own."""

    def made(self, node: Node, of: list[Any]) -> Parts:
        value = super().made(node, of)
        if node.op == "copy" or node.id in self.sharded.moves:
            return Parts(value.shape, value.placement, value.parts, None)
        return _Whole(value.shape, REPLICATED, self.sharding.moved(value, REPLICATED).parts, None)

    def array(self, value: Any) -> Any:
        found = super().array(value)
        if not isinstance(value, _Whole):
            return found
        boxes = self.boxes(value.shape, world(self.sharded.mesh))
        parts = [
            None if box is None else np.array(value.parts[0][tuple(slice(*pair) for pair in box)]) for box in boxes
        ]
        return Held(Layout(boxes=tuple(boxes)), parts, None, found.size, found.realized)

    def boxes(self, shape: tuple[int, ...], devices: int) -> list[tuple[tuple[int, int], ...] | None]:
        """Return what each device has: here one device all of it."""
        whole = tuple((0, extent) for extent in shape)
        keeper = (len(shape) + 1) % devices
        return [whole if device == keeper else None for device in range(devices)]


class ComputesOnOneDevice(_Placing):
    """A value is on the device that computed it, and on no other."""

    walk = _Apart


class _InHalves(_Apart):
    def boxes(self, shape: tuple[int, ...], devices: int) -> list[tuple[tuple[int, int], ...] | None]:
        if not shape or devices == 1:
            return super().boxes(shape, devices)
        halves = [(shape[0] // 2, shape[0]), (0, shape[0] // 2)]
        rest = tuple((0, extent) for extent in shape[1:])
        return [(halves[device * 5 % 3 % 2 if device > 1 else device], *rest) for device in range(devices)]


class LeavesHalvesOnSeveralDevices(_Placing):
    """Halves of a value are on several devices each, in no order, as no split along mesh axes leaves them."""

    walk = _InHalves


class _CutLast(ShardedWalk):
    def made(self, node: Node, of: list[Any]) -> Parts:
        value = super().made(node, of)
        if node.op == "copy" or node.id in self.sharded.moves or not value.shape:
            return replace(value, moved=None)
        names, extent = tuple(axis.name for axis in reversed(self.sharded.mesh)), value.shape[-1]
        inner = sorted(7 * part * part % (extent + 1) for part in range(1, world(self.sharded.mesh)))
        split = Split(axis=len(value.shape) - 1, along=names, cuts=(0, *inner, extent))
        return replace(self.sharding.moved(value, Placement(splits=(split,))), moved=None)


class CutsTheLastAxis(_Placing):
    """Computed values are split along their last axis, over all mesh axes from the last, by any bounds."""

    walk = _CutLast


class _Late(ShardedWalk):
    def made(self, node: Node, of: list[Any]) -> Parts:
        if node.op == "reduce" and not node.acc and node.id not in self.sharded.moves:
            return replace(self.sharding.done(node, of, REPLICATED), moved=None)
        return super().made(node, of)


class FoldsLate(_Placing):
    """A fold of a split axis stays pending until something needs it, as DTensor's ``Partial`` does."""

    walk = _Late


class KeepsSinglesBetween(EagerBackend):
    """XLA and Inductor keep what operations of 16 bits give in float32 until it is stored."""

    kind = "tensors"
    walk = excess.KeepsSinglesBetween
    number_model: ClassVar = {"intermediates": "excess"}
