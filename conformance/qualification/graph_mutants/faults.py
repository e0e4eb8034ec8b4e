"""Faults of passes that fuse, fold, move and cache, each in an implementation that is otherwise right."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from msgspec.structs import replace

from conformance.backends.graph_walk import Given
from conformance.cases.graph.case import asked_key
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.qualification.graph_mutants.eager import Eager
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.nodes import computed


class Alu(Eager):
    """What elementwise operations are replaced in."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return what ``alu`` says, or the right value."""
        right = super().made(node, of)
        if node.op != "alu":
            return right
        with np.errstate(all="ignore"):
            wrong = self.alu(node, of, right)
        return right if wrong is None else np.asarray(wrong).astype(right.dtype).reshape(right.shape)

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        """Return another value, or ``None``."""


class DifferenceOfOneIsZero(Alu):
    """Folds x - x to zero, of infinities and NaNs too."""

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        return np.zeros_like(right) if node.arg == "sub" and node.of[0] == node.of[-1] else None


class OneIsEqualToItself(Alu):
    """Folds x == x to true, of NaNs too."""

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        return np.ones_like(right) if node.arg == "eq" and node.of[0] == node.of[-1] else None


class NothingTimesZero(Alu):
    """Folds a product with a constant zero to zero, of infinities and NaNs too."""

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        known = [self.nodes.get(name) for name in node.of]
        zero = [
            each is not None and each.op == "const" and not np.any(value) for each, value in zip(known, of, strict=True)
        ]
        return np.zeros_like(right) if node.arg == "mul" and any(zero) else None


class FloorsQuotients(Alu):
    """Divides integers rounding down."""

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        whole = node.arg == "div" and kind(node.dtype) == "integer"
        return np.floor_divide(of[0].astype(object), np.where(of[1] == 0, 1, of[1]).astype(object)) if whole else None


class RemainderOfTheDivisor(Alu):
    """Gives remainders the sign of the divisor."""

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        whole = node.arg == "mod" and kind(node.dtype) == "integer"
        return np.mod(of[0].astype(object), np.where(of[1] == 0, 1, of[1]).astype(object)) if whole else None


class SmallIntegersDoNotWrap(Alu):
    """Computes int8 and uint8 sums with saturation."""

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        if node.arg not in ("add", "mul") or node.dtype not in ("int8", "uint8"):
            return None
        info = np.iinfo(right.dtype)
        exact = (np.add if node.arg == "add" else np.multiply)(of[0].astype(np.int64), of[1].astype(np.int64))
        return np.clip(exact, info.min, info.max)


class LessIsNotMore(Alu):
    """Compares by the opposite comparison: a NaN is less than everything."""

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        return ~(of[0] >= of[1]) if node.arg == "lt" else None


class ChoosesByProducts(Alu):
    """Selects by masks that it multiplies with: a NaN on the other side shows."""

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        if node.arg != "where" or kind(node.dtype) != "float" or of[1].dtype != of[2].dtype:
            return None
        return of[1] * of[0].astype(of[1].dtype) + of[2] * (~of[0]).astype(of[2].dtype)


class ShiftsInZeros(Alu):
    """Shifts negative integers right as unsigned ones."""

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        if node.arg != "shr" or not node.dtype.startswith("int"):
            return None
        width = right.dtype.itemsize
        return (of[0].astype(right.dtype).view(f"u{width}") >> of[1].astype(f"u{width}")).view(right.dtype)


class PromotesToTheFirst(Alu):
    """Converts operands of several dtypes to that of the first one on the way."""

    def alu(self, node: Node, of: list[Any], right: Array) -> Any:
        if node.arg == "where" or len({each.dtype for each in of}) < 2:
            return None
        return computed(node, [of[0], cast(of[1], logical(of[0].dtype))])


class KeepsHalvesWide(Eager):
    """Rounds floats of 8 and 16 bits only where they are asked for: fused operations are not rounded between."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Compute halves as float32, and keep what comes of them so until something else takes it."""
        if node.op != "alu":
            dtypes = [self.nodes[name].dtype if name in self.nodes else "" for name in node.of]
            pairs = zip(of, dtypes, strict=True)
            return super().made(
                node, [cast(each, to) if to and logical(each.dtype) != to else each for each, to in pairs]
            )
        narrow = node.op == "alu" and kind(node.dtype) == "float" and NUMPY[node.dtype].itemsize <= 2
        wide = [each.astype(np.float32) if narrow and each.dtype != np.bool_ else each for each in of]
        return super().made(replace(node, dtype="float32") if narrow else node, wide)

    def run(self) -> Given:
        """Round at the end."""
        found = super().run()
        for number, each in enumerate(self.case.rounds):
            for name in each.asked:
                key, dtype = asked_key(number, name), self.nodes[name].dtype
                found[key] = cast(found[key], dtype) if logical(found[key].dtype) != dtype else found[key]
        return found

    def assign(self, node: Node, value: Array, *, copied: bool) -> None:
        """Round where it is stored."""
        super().assign(node, cast(value, node.dtype), copied=copied)


class ShowsBitsOfFlushed(Eager):
    """Flushes subnormal numbers that were computed where their bits are looked at."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Put zeros in the place of subnormal numbers."""
        source = self.nodes.get(node.of[0]) if node.of else None
        if node.op == "bitcast" and source is not None and source.op == "alu" and kind(source.dtype) == "float":
            sizes, least = np.abs(of[0]), ml_dtypes.finfo(of[0].dtype).smallest_normal
            of = [np.where(sizes < least, np.copysign(np.zeros((), of[0].dtype), of[0]), of[0]).astype(of[0].dtype)]
        return super().made(node, of)


class PadsAfterwards(Eager):
    """Computes an operation on what a pad shows before the pad: the zeros that it adds stay zeros."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Put zeros where the operand is one that a pad added."""
        right = super().made(node, of)
        source = self.nodes.get(node.of[0]) if node.of else None
        if node.op != "alu" or len(node.of) > 1 or source is None or source.op != "pad" or right.dtype == np.bool_:
            return right
        inside = np.zeros(right.shape, np.bool_)
        ends = zip(self.pairs(source), right.shape, strict=True)
        inside[tuple(slice(first, extent - last) for (first, last), extent in ends)] = True
        return np.where(inside, right, np.zeros_like(right))


class PadsBefore(Eager):
    """Computes the operation that a pad shows after the pad: what it adds is no zero where that of zero is none."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Pad the operand instead of the result."""
        source = self.nodes.get(node.of[0]) if node.of else None
        if node.op != "pad" or source is None or source.op != "alu" or len(source.of) > 1:
            return super().made(node, of)
        return computed(source, [self.moved(node, self.value(source.of[0]))])


class Reduces(Eager):
    """What reductions are replaced in."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return what ``reduced`` says of a reduce, or the right value."""
        right = super().made(node, of)
        wrong = self.reduced(node, of[0], right) if node.op == "reduce" else None
        return right if wrong is None else np.asarray(wrong).astype(right.dtype).reshape(right.shape)

    def reduced(self, node: Node, value: Array, right: Array) -> Any:
        """Return another value, or ``None``."""


class BeginsAtZero(Reduces):
    """Begins every maximum and minimum at zero."""

    def reduced(self, node: Node, value: Array, right: Array) -> Any:
        if node.fold not in ("max", "min") or right.dtype == np.bool_:
            return None
        return (np.maximum if node.fold == "max" else np.minimum)(right, np.zeros_like(right))


class LosesTheLastOfMany(Reduces):
    """Unrolls by four, and leaves out what is left over."""

    def reduced(self, node: Node, value: Array, right: Array) -> Any:
        axes = self.axes(node)
        if len(axes) != 1 or value.shape[axes[0]] % 4 != 1 or value.shape[axes[0]] < 5:
            return None
        return computed(node, [np.delete(value, -1, axes[0])])


class DropsTheRestOfParts(Reduces):
    """Folds 65,536 terms and more in 256 parts of equal length, and drops the rest."""

    def reduced(self, node: Node, value: Array, right: Array) -> Any:
        rest = value.size % 256
        if right.ndim or value.size < 2**16 or not rest:
            return None
        return computed(replace(node, arg=(0,)), [value.reshape(-1)[:-rest]])


class ForgetsTheAccumulator(Reduces):
    """Accumulates in the dtype of the terms whatever was named."""

    def reduced(self, node: Node, value: Array, right: Array) -> Any:
        return computed(replace(node, acc=""), [value]) if node.acc else None


class NothingIsZero(Reduces):
    """Gives zero for every reduction of no elements."""

    def reduced(self, node: Node, value: Array, right: Array) -> Any:
        return np.zeros_like(right) if not value.size else None


class ReducesTheNextAxis(Reduces):
    """Takes the axis beside the right one where both have one extent."""

    def reduced(self, node: Node, value: Array, right: Array) -> Any:
        axes = self.axes(node)
        other = axes[0] - 1 if axes else -1
        same = len(axes) == 1 and other >= 0 and value.shape[other] == value.shape[axes[0]]
        return computed(replace(node, arg=(other,)), [value]) if same else None


class RoundsBetweenAxes(Reduces):
    """Folds axes that do not lie side by side one after another, and rounds between them."""

    def reduced(self, node: Node, value: Array, right: Array) -> Any:
        axes = sorted(self.axes(node))
        if not node.acc or not axes or axes[-1] - axes[0] < len(axes):
            return None
        return computed(replace(node, arg=tuple(axes[:-1])), [computed(replace(node, arg=(axes[-1],)), [value])])


class Moves(Eager):
    """What movement is replaced in."""

    def moved(self, node: Node, value: Array) -> Array:
        """Return what ``placed`` says, or the right value."""
        right = super().moved(node, value)
        wrong = self.placed(node, value)
        return right if wrong is None or wrong.shape != right.shape else wrong

    def placed(self, node: Node, value: Array) -> Array | None:
        """Return another value, or ``None``."""


class FlipsOfRowsAreContiguous(Moves):
    """Takes a flip of the first axis for a reshape, of equal size as it is."""

    def placed(self, node: Node, value: Array) -> Array | None:
        return value if node.op == "flip" and self.axes(node) == (0,) else None


class WholeWindowsBeginAtZero(Moves):
    """Forgets where a range begins."""

    def placed(self, node: Node, value: Array) -> Array | None:
        if node.op != "shrink":
            return None
        return value[tuple(slice(0, end - begin) for begin, end in self.pairs(node))]


class NegativeStepsFromAlignedEnds(Moves):
    """Takes a strided slice from the front, and then turns round."""

    def placed(self, node: Node, value: Array) -> Array | None:
        steps = self.axes(node)
        if node.op != "stride":
            return None
        found = value[tuple(slice(None, None, abs(step)) for step in steps)]
        return np.flip(found, tuple(axis for axis, step in enumerate(steps) if step < 0))


class ReshapesWhatIsStored(Moves):
    """Reshapes a permuted value in the order in which it is stored."""

    def placed(self, node: Node, value: Array) -> Array | None:
        source = self.nodes.get(node.of[0])
        if node.op != "reshape" or source is None or source.op != "permute":
            return None
        return value.transpose(np.argsort(self.axes(source))).reshape(self.dims(node))


class PadsWithTheEdge(Moves):
    """Pads with what is at the edge where an axis has one element."""

    def placed(self, node: Node, value: Array) -> Array | None:
        one = node.op == "pad" and value.ndim > 0 and value.size > 0 and 1 in value.shape
        return np.pad(value, self.pairs(node), mode="edge") if one else None


class Indexes(Eager):
    """Takes indices from the end where they are the last."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Take the element before the last for the last of several."""
        if node.op == "gather" and of[0].shape[int(str(node.arg))] > 2:
            last = of[0].shape[int(str(node.arg))] - 1
            of = [of[0], np.where(of[1] == last, np.asarray(last - 1, of[1].dtype), of[1])]
        return super().made(node, of)


class CountsInHalves(Eager):
    """Counts along the last axis, whichever was meant, where extents are equal or there are two axes."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Count along the last axis."""
        last = len(node.shape) - 1
        return super().made(replace(node, arg=last) if node.op == "iota" else node, of)


class Converts(Eager):
    """Rounds floats to the nearest integer."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Round before converting."""
        rounds = node.op == "cast" and kind(node.dtype) == "integer" and kind(logical(of[0].dtype)) == "float"
        return super().made(node, [np.rint(of[0])] if rounds else of)


class TruncatesToBool(Eager):
    """Takes a fraction for false."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Truncate before converting."""
        cut = node.op == "cast" and node.dtype == "bool" and kind(logical(of[0].dtype)) == "float"
        return super().made(node, [np.trunc(of[0])] if cut else of)


class Constants(Eager):
    """What constants are replaced in."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return another constant."""
        if node.op == "const":
            assert isinstance(node.arg, Tensor)
            node = replace(node, arg=from_array(self.constant(to_array(node.arg))))
        return super().made(node, of)

    def constant(self, value: Array) -> Array:
        """Return another value."""
        return value


class ConstantsByFloat(Constants):
    """Keeps constants as float64, so that large integers lose digits."""

    def constant(self, value: Array) -> Array:
        if kind(logical(value.dtype)) != "integer" or value.dtype.itemsize < 8:
            return value
        info = np.iinfo(value.dtype)
        return np.array(min(max(int(float(value)), info.min), info.max), value.dtype)


class ConstantsAreDeduplicated(Constants):
    """Takes zeros of both signs for one constant."""

    def constant(self, value: Array) -> Array:
        return np.zeros_like(value) if value == 0 else value


class NansAreOne(Constants):
    """Has one NaN, whatever its payload."""

    def constant(self, value: Array) -> Array:
        return np.array(np.nan, value.dtype) if kind(logical(value.dtype)) == "float" and np.isnan(value) else value
