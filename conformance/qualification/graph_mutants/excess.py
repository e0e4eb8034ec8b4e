"""Intermediate values of 16 bits that have more than that: right where it is declared, and wrong where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from conformance.cases.declarations.number_model import SHORT
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import Array, logical
from conformance.qualification.graph_mutants.eager import Eager
from conformance.reference.graph.nodes import computed


class KeepsSinglesBetween(Eager):
    """XLA and Inductor keep what 16-bit operations give in float32 until it is stored, and do not say so."""

    def __init__(self, case: GraphCase) -> None:
        """Know no value in float32 yet."""
        super().__init__(case)
        self._wide: dict[int, tuple[Array, Array]] = {}

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the value rounded at the end of what is computed together."""
        right = super().made(node, of)
        if node.op == "cast" and node.dtype in ("float32", "float64") and id(of[0]) in self._wide:
            return self._single(of[0]).astype(right.dtype)
        if node.op == "cast" and node.dtype in SHORT and logical(of[0].dtype) == "float32":
            self._wide[id(right)] = right, np.asarray(of[0])
        if node.op != "alu" or node.dtype not in SHORT or any(logical(each.dtype) != node.dtype for each in of):
            return right
        with np.errstate(all="ignore"):
            wide = computed(replace(node, dtype="float32"), [self._single(each) for each in of])
            made = np.asarray(wide).astype(right.dtype)
        self._wide[id(made)] = made, np.asarray(wide)
        return made

    def _single(self, value: Any) -> Array:
        known = self._wide.get(id(value))
        return known[1] if known is not None else np.asarray(value).astype(np.float32)
