"""Right transposes and mappings that are made in another way than by the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.cases.program.program import lines
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.reference.operations import all_gather as gathers
from conformance.reference.operations import all_reduce as sums
from conformance.reference.operations import all_to_all as exchanges
from conformance.reference.transforms.batching import batched, sliced, stacked
from conformance.reference.transforms.no_rule import NoRule, NotLinear
from conformance.reference.transforms.pairing import pairing
from conformance.reference.transforms.pullback import pullback
from conformance.reference.transforms.pushforward import pushforward
from conformance.reference.transforms.transposed_program import PREFIX, transposed_program
from conformance.reference.transforms.transposes import TRANSPOSES, Act, Rule, own_piece
from conformance.reference.types.check import check, paired_types
from conformance.reference.types.values import evaluate, visible

Blocks = list[Array]
Values = dict[str, Blocks]


class _Pulled(Reference):
    """Pulls cotangents back by ``rules`` of its own for some operations."""

    kind = "transforms"
    rules: ClassVar[Mapping[str, Rule]] = {}

    def pullback(self, program: TypedProgram, inputs: Mapping[str, Blocks], cotangents: Mapping[str, Blocks]) -> Values:
        return pullback(program, inputs, cotangents, {**TRANSPOSES, **self.rules})


def _scattered_by_sum(act: Act, given: Blocks) -> list[Blocks]:
    if act.step.attrs["to"] == "invariant" and act.checked:
        return own_piece(act, given)
    return own_piece(act, sums.all_reduce(given, op="sum", groups=act.groups))


class GathersBackByASum(_Pulled):
    """The transpose of all_gather is a sum of whole blocks, of which each rank keeps its piece: DTensor did so."""

    rules: ClassVar = {"all_gather": _scattered_by_sum}


def _scattered_by_exchange(act: Act, given: Blocks) -> list[Blocks]:
    if act.step.attrs["to"] == "invariant" and act.checked:
        return own_piece(act, given)
    axis, tiled = int(str(act.step.attrs["axis"])), bool(act.step.attrs["tiled"])
    out = list(given)
    for group in act.groups:
        parts = {rank: exchanges.pieces(given[rank], len(group), axis, tiled=tiled) for rank in group}
        for position, rank in enumerate(group):
            terms = [parts[sender][position] for sender in reversed(group)]
            out[rank] = np.add.reduce(terms, dtype=terms[0].dtype)
    return [out]


class GathersBackByAnExchange(_Pulled):
    """The transpose of all_gather exchanges pieces, which each rank sums: ``torch.distributed.nn`` does over Gloo."""

    rules: ClassVar = {"all_gather": _scattered_by_exchange}


def _gathered_by_sum(act: Act, given: Blocks) -> list[Blocks]:
    axis, tiled = int(str(act.step.attrs["axis"])), bool(act.step.attrs["tiled"])
    zeros = [np.zeros_like(block) for block in given]
    places = [block.copy() for block in gathers.all_gather(zeros, axis=axis, tiled=tiled, groups=act.groups)]
    for group in act.groups:
        for position, rank in enumerate(group):
            rows = np.moveaxis(places[rank], axis, 0)
            if tiled:
                each = len(rows) // len(group)
                rows[position * each : (position + 1) * each] = np.moveaxis(given[rank], axis, 0)
            else:
                rows[position] = given[rank]
    return [sums.all_reduce(places, op="sum", groups=act.groups)]


class ScattersBackByASum(_Pulled):
    """The transpose of reduce_scatter is a sum of zeros in which each rank has put its piece.

    So XLA writes a gather as an update of zeros and an all-reduce.
    """

    rules: ClassVar = {"reduce_scatter": _gathered_by_sum}


class TransposesAsPrograms(Reference):
    """What is pulled back is the program's transpose, run as a program where it is one, as JAX's jaxpr is."""

    kind = "transforms"

    def pullback(self, program: TypedProgram, inputs: Mapping[str, Blocks], cotangents: Mapping[str, Blocks]) -> Values:
        right = super().pullback(program, inputs, cotangents)
        kept = replace(program, results=tuple(cotangents))
        values = evaluate(program, inputs)
        turned = transposed_program(kept, {name: blocks[0].shape for name, blocks in values.items()})
        if turned is None:
            return right
        made = evaluate(turned.program, {PREFIX + name: blocks for name, blocks in cotangents.items()})
        return {name: made[turned.results[name]] if name in turned.results else right[name] for name in right}


class PullsBackUnitByUnit(Reference):
    """A cotangent is found element by element: that of an element is what its unit comes to at the results.

    So does whoever has rules for tangents alone.
    """

    kind = "transforms"
    most = 12

    def pullback(self, program: TypedProgram, inputs: Mapping[str, Blocks], cotangents: Mapping[str, Blocks]) -> Values:
        right = super().pullback(program, inputs, cotangents)
        if sum(block.size for blocks in inputs.values() for block in blocks) > self.most or not program.checked:
            return right
        try:
            return {name: self._found(program, inputs, cotangents, name, right[name]) for name in inputs}
        except NoRule:  # of a step that no result depends on
            return right

    def _found(
        self,
        program: TypedProgram,
        inputs: Mapping[str, Blocks],
        cotangents: Mapping[str, Blocks],
        name: str,
        like: Blocks,
    ) -> Blocks:
        types, out = paired_types(program), [np.zeros_like(block) for block in like]
        same = tuple(axis.name for axis in program.mesh if axis.name not in program.inputs[name].varying)
        for line in lines(program.mesh, same):
            for at in np.ndindex(like[0].shape):
                units = {key: [np.zeros_like(block) for block in blocks] for key, blocks in inputs.items()}
                for rank in line:
                    units[name][rank][at] = 1
                pushed = pushforward(program, inputs, units)
                worth = sum(_paired(program, types[key], pushed[key], given) for key, given in cotangents.items())
                for rank in line:
                    out[rank][at] = worth
        return out


def _paired(program: TypedProgram, given: AxisType, left: Blocks, right: Blocks) -> complex:
    found = pairing(program.mesh, given, left, right)
    return complex(found.real, found.imaginary) if found.imaginary else float(found.real)


class MapsSliceBySlice(Reference):
    """A program is called once a slice where no step meets across slices: ``torch.func.vmap`` falls back to that."""

    kind = "transforms"

    def batched(self, program: TypedProgram, levels: Sequence[Level], inputs: Mapping[str, Blocks]) -> Values:
        right = super().batched(program, levels, inputs)
        names = {level.name for level in levels}
        # Rows of offsets and sizes that are of a level differ from slice to slice.
        if any(names & {*step.axes, step.attrs.get("level")} for step in program.steps):
            return right
        types, rows = check(program), {name: sliced(name, blocks, levels) for name, blocks in inputs.items()}
        count = len(next(iter(rows.values()))) // program.world
        made: dict[str, Blocks] = {name: [] for name in program.results}
        calls = [
            evaluate(program, {name: blocks[number::count] for name, blocks in rows.items()})
            for number in reversed(range(count))
        ][::-1]
        for name in program.results:
            shown = [visible(program, types[name], values[name]) for values in calls]
            made[name] = [each[rank] for rank in range(program.world) for each in shown]
        return {name: stacked(blocks, levels) for name, blocks in made.items()}


class MapsInnerLevelsOutside(Reference):
    """Levels are mapped in the other order, and the axes of results moved where they belong."""

    kind = "transforms"

    def batched(self, program: TypedProgram, levels: Sequence[Level], inputs: Mapping[str, Blocks]) -> Values:
        if len(levels) != 2:
            return super().batched(program, levels, inputs)
        outer, inner = levels
        # In front of every block: first the inner level's axis, then the outer one's.
        fronts = (_front(inner), _front(outer))
        moved = {name: [_to_front(block, name, outer, inner) for block in blocks] for name, blocks in inputs.items()}
        made = batched(program, fronts, moved)
        return {name: [_to_places(block, outer, inner) for block in blocks] for name, blocks in made.items()}


def _to_places(block: Array, outer: Level, inner: Level) -> Array:
    """Return a block that begins with the axes of the inner and the outer level with both where they belong."""
    placed = np.moveaxis(np.moveaxis(block, 0, 1), 1, 1 + inner.result)
    return np.moveaxis(placed, 0, outer.result)


def _front(level: Level) -> Level:
    return replace(level, inputs=dict.fromkeys(level.inputs, 0), result=0)


def _to_front(block: Array, name: str, outer: Level, inner: Level) -> Array:
    if name in outer.inputs:
        block = np.moveaxis(block, outer.inputs[name], 0)
    if name in inner.inputs:
        at = inner.inputs[name] + (name in outer.inputs)
        block = np.moveaxis(block, at, 0)
    return block


def _extreme(act: Act, given: Blocks) -> list[Blocks]:
    try:
        return TRANSPOSES["all_reduce"](act, given)
    except NotLinear:
        if act.step.attrs.get("local_axes"):
            raise
    out, operand = list(given), act.operands[0]
    for group in act.groups:
        terms = np.stack([operand[rank] for rank in group])
        first = terms.argmax(0) if act.step.attrs["op"] == "max" else terms.argmin(0)
        for position, rank in enumerate(group):
            out[rank] = np.where(first == position, given[rank], given[rank].dtype.type(0))
    return [out]


class SubgradientsOfExtremes(_Pulled):
    """A maximum or minimum over ranks is pulled back to the first rank that has it: refusing that is a *may*."""

    rules: ClassVar = {"all_reduce": _extreme}


class MapsWhatIsStarted(Reference):
    """What is started is mapped as what is not: that there is no rule for it is a *may*."""

    kind = "transforms"

    def batched(self, program: TypedProgram, levels: Sequence[Level], inputs: Mapping[str, Blocks]) -> Values:
        return super().batched(_at_once(program), levels, inputs)

    def pullback(self, program: TypedProgram, inputs: Mapping[str, Blocks], cotangents: Mapping[str, Blocks]) -> Values:
        return super().pullback(_at_once(program), inputs, cotangents)

    def pushforward(
        self, program: TypedProgram, inputs: Mapping[str, Blocks], tangents: Mapping[str, Blocks]
    ) -> Values:
        return super().pushforward(_at_once(program), inputs, tangents)


def _at_once(program: TypedProgram) -> TypedProgram:
    """Return the program with every operation done where it is started, and every done a permute over no axis."""
    nothing = TypedStep(op="permute", inputs=(), output="", attrs={"pairs": ()})
    steps = (
        replace(nothing, inputs=step.inputs, output=step.output) if step.op == "done" else replace(step, start=False)
        for step in program.steps
    )
    return replace(program, steps=tuple(steps))
