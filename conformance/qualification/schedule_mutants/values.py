"""Values that are right for the numbers that somebody tried: narrow, clamped, or folded by rules of arithmetic."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from msgspec.structs import replace

from conformance.cases.schedule.body_form import dtypes_of
from conformance.cases.schedule.kernel_body import Alu, Body, Cast, Constant, Fetch, Instruction, Load, sources
from conformance.cases.schedule.schedule import Access, Collective, Kernel, Schedule
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.qualification.legal_schedules.storage import planned
from conformance.qualification.schedule_changes import Leaf, each_leaf
from conformance.qualification.schedule_mutants.engine import OfGraphs as _OfGraphs
from conformance.reference.schedule.facts import Facts

Wrong = list[Instruction] | None
"""What takes the place of an instruction, or nothing where it is done as it should."""


class Instead(_OfGraphs):
    """An engine that computes some instructions otherwise."""

    def spoil(self, made: Schedule) -> Schedule:
        """Return the schedule with those instructions replaced in every kernel."""
        facts = Facts(made)

        def changed(leaf: Leaf) -> Leaf:
            if not isinstance(leaf, Kernel):
                return leaf
            dtypes = [dtypes_of(body, leaf, facts.buffers) for body in leaf.bodies]
            bodies = (_rewritten(*each, leaf, self.instead) for each in zip(leaf.bodies, dtypes, strict=True))
            return replace(leaf, bodies=tuple(bodies))

        return each_leaf(made, changed)

    @abstractmethod
    def instead(self, each: Alu, dtype: str, of: Sequence[Instruction], kernel: Kernel, first: int) -> Wrong:
        """Return what is computed instead of an operation on values of a dtype, from instruction ``first`` on."""


def _rewritten(body: Body, dtypes: Sequence[str], kernel: Kernel, instead: Callable[..., Wrong]) -> Body:
    lines: list[Instruction] = []
    at: dict[int, int] = {}
    for number, each in enumerate(body.instructions):
        moved = each
        if sources(each):
            of = tuple(at[source] for source in sources(each))
            if isinstance(each, Fetch):
                moved = replace(each, at=of)
            else:
                moved = replace(each, of=of if isinstance(each, Alu) else of[0])
        found: Wrong = None
        if isinstance(moved, Alu):
            assert isinstance(each, Alu)
            taken = [lines[source] for source in moved.of]
            found = instead(moved, dtypes[each.of[-1]], taken, kernel, len(lines))
        lines += [moved] if found is None else found
        at[number] = len(lines) - 1
    return replace(body, instructions=tuple(lines))


def _constant(value: float, dtype: str) -> Constant:
    return Constant(value=from_array(np.array(value).astype(NUMPY[dtype])))


def _same(of: Sequence[Instruction], kernel: Kernel, each: Alu) -> bool:
    """Return whether both operands are one value: one instruction, or loads of the same elements."""
    if each.of[0] == each.of[-1]:
        return True
    one, other = of[0], of[-1]
    loads = isinstance(one, Load) and isinstance(other, Load)
    return loads and kernel.accesses[one.access] == kernel.accesses[other.access]  # type: ignore[union-attr]


class DifferenceOfItselfIsZero(Instead):
    """X - x is 0, and x of the same bits xored too: true of numbers, and not of infinities and NaNs."""

    breaks = "law.C1"

    def instead(self, each: Alu, dtype: str, of: Sequence[Instruction], kernel: Kernel, first: int) -> Wrong:
        """Fold a difference of one value to 0."""
        return [_constant(0, dtype)] if each.op == "sub" and _same(of, kernel, each) else None


class ProductWithZeroIsZero(Instead):
    """X * 0 is 0, whatever x is."""

    breaks = "law.C1"

    def instead(self, each: Alu, dtype: str, of: Sequence[Instruction], kernel: Kernel, first: int) -> Wrong:
        """Fold a product with a constant 0."""
        return [_constant(0, dtype)] if each.op == "mul" and any(map(_zero, of)) else None


class NothingEqualsZero(Instead):
    """A comparison with 0 is folded by what was seen: nothing ever was 0."""

    breaks = "law.C1"

    def instead(self, each: Alu, dtype: str, of: Sequence[Instruction], kernel: Kernel, first: int) -> Wrong:
        """Fold equality with 0."""
        if each.op not in ("eq", "ne") or not any(map(_zero, of)):
            return None
        return [_constant(each.op == "ne", "bool")]


def _zero(each: Instruction) -> bool:
    return isinstance(each, Constant) and not to_array(each.value).astype(np.complex128)


class EverythingEqualsItself(Instead):
    """X == x is true, and x != x is not: a test for NaN is folded away."""

    breaks = "law.C1"

    def instead(self, each: Alu, dtype: str, of: Sequence[Instruction], kernel: Kernel, first: int) -> Wrong:
        """Fold comparisons of one value."""
        if each.op not in ("eq", "ne") or not _same(of, kernel, each):
            return None
        return [_constant(each.op == "eq", "bool")]


class _Narrow(Instead):
    """An engine that computes an operation of some dtypes by way of another."""

    op: str = ""
    wide: tuple[str, ...] = ()
    through: str = ""

    def instead(self, each: Alu, dtype: str, of: Sequence[Instruction], kernel: Kernel, first: int) -> Wrong:
        """Convert the result there and back."""
        if each.op != self.op or dtype not in self.wide:
            return None
        return [each, Cast(of=first, dtype=self.through), Cast(of=first + 1, dtype=dtype)]


class ProductsThroughInt8(_Narrow):
    """A quantised product is used where nobody asked for one, and its scale is 1."""

    breaks = "law.C1"
    op, wide, through = "mul", ("float32",), "int8"


class ProductsThroughFloat8(_Narrow):
    """A product keeps the dtype of a gradient's wire format."""

    breaks = "law.C1"
    op, wide, through = "mul", ("float32",), "float8_e5m2"


class SumsOfHalvesThroughFloat8(_Narrow):
    """16-bit sums are accumulated in the tensor core's input dtype."""

    breaks = "law.C1"
    op, wide, through = "add", ("bfloat16", "float16"), "float8_e4m3fn"


class SumsOfHalvesThroughInt8(_Narrow):
    """A 16-bit sum is rounded to an integer of its own scale."""

    breaks = "law.C1"
    op, wide, through = "add", ("bfloat16", "float16"), "int8"


class LongSumsThroughDoubles(_Narrow):
    """64-bit integers are added as doubles, as a language with one kind of number does it."""

    breaks = "law.C1"
    op, wide, through = "add", ("int64", "uint64"), "float64"


class ProductsClamped(Instead):
    """An activation's clamp is fused into every product."""

    breaks = "law.C1"

    def instead(self, each: Alu, dtype: str, of: Sequence[Instruction], kernel: Kernel, first: int) -> Wrong:
        """Take the lesser of a product and 4."""
        if each.op != "mul" or dtype != "float32":
            return None
        return [each, _constant(4, dtype), Alu(op="min", of=(first, first + 1))]


class SquaresOfSmallNumbers(Instead):
    """A square is taken from a line through two points, 1 and 2."""

    breaks = "law.C1"

    def instead(self, each: Alu, dtype: str, of: Sequence[Instruction], kernel: Kernel, first: int) -> Wrong:
        """Compute 3|x| - 2."""
        if each.op != "mul" or dtype not in ("float32", "float64") or not _same(of, kernel, each):
            return None
        lines: list[Instruction] = [
            Alu(op="abs", of=each.of[:1]),
            _constant(3, dtype),
            Alu(op="mul", of=(first, first + 1)),
        ]
        return [*lines, _constant(2, dtype), Alu(op="sub", of=(first + 2, first + 3))]


class MaximaByComparison(Instead):
    """A maximum is the first value where the second is less, which it is of no NaN."""

    breaks = "law.C2"

    def instead(self, each: Alu, dtype: str, of: Sequence[Instruction], kernel: Kernel, first: int) -> Wrong:
        """Choose by a comparison."""
        if each.op != "max" or not dtype.startswith(("float", "bfloat")):
            return None
        return [Alu(op="lt", of=each.of[::-1]), Alu(op="where", of=(first, *each.of))]


class OneOperandBound(_OfGraphs):
    """A kernel in machine code is bound to the first of its operands only; what it computes nobody knows."""

    breaks = "law.C3"

    def spoil(self, made: Schedule) -> Schedule:
        """Drop the last read of each kernel with several, and all bodies."""

        def bare(leaf: Kernel) -> Kernel:
            reads = [access for access in leaf.accesses if not access.write]
            writes = tuple(access for access in leaf.accesses if access.write)
            kept: list[Access] = reads[:1] if leaf.provenance else reads
            return replace(leaf, bodies=(), variables=(), accesses=(*kept, *writes))

        return each_leaf(made, lambda leaf: bare(leaf) if isinstance(leaf, Kernel) else leaf)


class GroupsTakeTheirOwnTurns(_OfGraphs):
    """Each communicator has a thread of its own, so that devices enter two groups' collectives in different orders."""

    breaks = "waits.C7"

    def spoil(self, made: Schedule) -> Schedule:
        """Give every collective a group, which the first device enters in order and the others backwards."""
        met = [item for item in made.items if isinstance(item, Collective) and not item.parts]
        turns = {
            item.id: tuple(at if number == 0 else len(met) - at for number in range(len(item.participants)))
            for at, item in enumerate(met)
        }
        items = tuple(
            replace(item, group=item.id, turns=turns[item.id])
            if isinstance(item, Collective) and item.id in turns
            else item
            for item in made.items
        )
        return replace(made, items=items)


class TakesOverWhateverDies(_OfGraphs):
    """What a kernel reads last is overwritten by it, in whatever order it reads."""

    breaks = "assign.C1"

    def spoil(self, made: Schedule) -> Schedule:
        """Plan with operands that die taken over, maps unseen."""
        return planned(made, in_place=True, anyhow=True)
