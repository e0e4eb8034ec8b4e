"""Values that are given for graphs without a meaning, each by one way to make sources fit that do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from conformance.backends.graph_walk import place_of
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.qualification.graph_mutants.eager import Eager


def fitted(value: Array, shape: tuple[int, ...], dtype: str) -> Array:
    """Return a value converted, and cut or repeated until it has a shape."""
    with np.errstate(all="ignore"):
        return np.resize(np.asarray(value), shape).astype(NUMPY[dtype])


class AssignsWhatDoesNotFit(Eager):
    """Converts a value to the dtype of the target of its assign, and cuts or repeats it to the shape."""

    unrefused: ClassVar = "graph.C43"

    def assign(self, node: Node, value: Array, *, copied: bool) -> None:
        target = self.nodes[node.of[0]]
        super().assign(node, fitted(value, place_of(self, node.of[0]).shape, target.dtype), copied=copied)


class CallsWithWhatThereIs(Eager):
    """Makes arguments fit the parameters of a function, and takes zeros where there are too few."""

    unrefused: ClassVar = "graph.C44"

    def call(self, node: Node, of: list[Any]) -> list[Any]:
        bound: Mapping[str, int] = self.bounds[node.id]
        function = self.case.graph.functions[str(node.arg)]
        wanted = {int(str(each.arg)): each for each in function.nodes if each.op == "param"}
        taken: list[Any] = [np.zeros(())] * (1 + max(wanted, default=-1))
        for place, (number, each) in enumerate(sorted(wanted.items())):
            given = of[place] if place < len(of) else np.zeros(1)
            taken[number] = fitted(given, sizes(each.shape, bound), each.dtype)
        return self.applied(function, taken, bound)


class MeetsAcrossDevices(Eager):
    """Takes operands from whichever devices they are on."""

    unrefused: ClassVar = "graph.C45"
