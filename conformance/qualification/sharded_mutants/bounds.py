"""Faults of steps that raise where a part begins beyond the end, or is not real."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Placement, even_cuts, reals
from conformance.cases.tensor.dtypes import Array
from conformance.reference.sharded.parts import Parts, Sharding


class CutsBeyondTheEnd(Sharding):
    """Begins part i at i times the size of the first, beyond the end of what few elements have. tinygrad#5131."""

    def placed(self, array: Array, placement: Placement) -> Parts:
        """Raise where a part of an axis that is cut by default begins beyond its end."""
        for split in placement.splits if not placement.masks else ():
            extent, last = split.cuts[-1], len(split.cuts) - 2
            if split.cuts == even_cuts(extent, last + 1) and split.cuts[1] * last > extent:
                raise AssertionError(f"part {last} of axis {split.axis} begins at {split.cuts[1] * last} of {extent}")
        return super().placed(array, placement)


class OthersHaveTheOperandsDtype(Sharding):
    """Gives parts that are not real the dtype of the last operand, which no comparison has. tinygrad#5299."""

    def local(self, node: Node, of: Sequence[Parts], made: Placement) -> tuple[Array, ...]:
        """Raise where the parts of a comparison have several dtypes."""
        found = super().local(node, of, made)
        if node.op == "alu" and node.dtype == "bool" and not all(reals(made, self.mesh)):
            operand = of[-1].parts[0].dtype
            if operand != found[0].dtype:
                raise AssertionError(f"all parts need one dtype, not {node.dtype} and {operand}")
        return found
