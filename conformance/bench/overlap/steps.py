"""Steps of training as programs: what each rank computes, what it communicates, its data, and what NumPy gives.

All are of square layers without bias. Forward ``h = h @ w`` for each layer; backward, from a gradient that is given and
the activations that the forward pass has left, ``dw = h.T @ g`` and ``g = g @ w.T``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, get_args

import msgspec
import numpy as np

from conformance.cases.program.program import Axis, Program
from conformance.cases.program.program import Step as ProgramStep
from conformance.cases.tensor.dtypes import Array

Part = Literal["whole", "computation", "communication"]
"""A step, or what of it is left where collectives are left out, or where nothing else is there."""

STEPS: Final = {
    "gradients": "backward; the gradient of each layer's weights is averaged under the layers before it",
    "gather": "forward; each layer's weights are gathered, of the rows that each rank has, under the layer before it",
    "scatter": "backward; weights are gathered, and each rank gets the average of its rows of the gradients",
}
"""The steps, each with what it does."""


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of so many ``layers``, whose weights are square, ``width`` wide, on ``rows`` rows of data a rank."""

    name: str
    ranks: int
    layers: int = 8
    rows: int = 64
    width: int = 128

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a step that nobody knows, or for weights that ranks cannot share out."""
        if self.name not in STEPS:
            raise ValueError(f"unknown step {self.name!r}; known are {', '.join(STEPS)}")
        if self.ranks < 2:
            raise ValueError(f"a step needs 2 ranks at least, got {self.ranks}")
        if self.width % self.ranks:
            raise ValueError(f"weights {self.width} wide cannot be shared out over {self.ranks} ranks")

    @property
    def sharded(self) -> bool:
        """Return whether a rank has only its rows of the weights."""
        return self.name != "gradients"

    @property
    def backward(self) -> bool:
        """Return whether gradients are computed."""
        return self.name != "gather"

    def weights(self) -> list[Array]:
        """Return the weights of each layer."""
        draw = np.random.default_rng(3)
        scale = np.float32(self.width**-0.5)
        return [draw.standard_normal((self.width,) * 2, np.float32) * scale for _ in range(self.layers)]

    def blocks(self, name: str) -> list[Array]:
        """Return the data (``x``) or the last gradient (``g``) of each rank."""
        draw = np.random.default_rng(5 if name == "x" else 7)
        return list(draw.standard_normal((self.ranks, self.rows, self.width), np.float32))

    def activations(self, rank: int) -> list[Array]:
        """Return what each layer takes, and after it what the last one gives."""
        found = [self.blocks("x")[rank]]
        for each in self.weights():
            found.append(found[-1] @ each)
        return found

    def own_rows(self, matrix: Array, rank: int) -> Array:
        """Return the rows of weights, or of their gradient, that a rank has."""
        return np.ascontiguousarray(np.split(matrix, self.ranks)[rank]) if self.sharded else matrix

    def expected(self, rank: int) -> list[Array]:
        """Return what a rank has in the end: its output, or its gradients by layer."""
        if not self.backward:
            return self.activations(rank)[-1:]
        weights, averages = self.weights(), [np.zeros((self.width,) * 2, np.float32) for _ in range(self.layers)]
        for other, last in enumerate(self.blocks("g")):
            g = last
            kept = self.activations(other)
            for layer in reversed(range(self.layers)):
                averages[layer] += kept[layer].T @ g / np.float32(self.ranks)
                g = g @ weights[layer].T
        return [self.own_rows(each, rank) for each in averages]


def inputs(step: Step, part: Part = "whole") -> dict[str, list[Array]]:
    """Return the blocks of a program's inputs by name: what its products take lies as they take it.

    The gradient is divided by the ranks, so that sums are averages. Computation alone has whole weights.
    """
    ranks = range(step.ranks)
    weights = [each.T if step.backward else each for each in step.weights()]
    found: dict[str, list[Array]] = {}
    for layer, each in enumerate(weights):
        whole = np.ascontiguousarray(each)
        found[f"w{layer}"] = [whole if part == "computation" else step.own_rows(whole, rank) for rank in ranks]
    if not step.backward:
        return found | {"x": step.blocks("x")}
    left = [step.activations(rank) for rank in ranks]
    for layer in range(step.layers):
        found[f"t{layer}"] = [np.ascontiguousarray(left[rank][layer].T) for rank in ranks]
    return found | {f"g{step.layers}": [each / np.float32(step.ranks) for each in step.blocks("g")]}


def program(step: Step, part: Part = "whole") -> Program:
    """Return a step, or a part of it, as a program; raise ``ValueError`` for an unknown part.

    By itself communication takes what it is given in place of what is computed: of one size, the weights.
    """
    if part not in get_args(Part):
        raise ValueError(f"unknown part {part!r}; known are {', '.join(get_args(Part))}")
    made: list[ProgramStep] = []
    gathers, alone = step.sharded and part != "computation", part == "communication"
    layers = range(step.layers)
    weights = [f"whole{layer}" if gathers else f"w{layer}" for layer in layers]

    def meet(kind: str, source: str, target: str, **attrs: Any) -> None:
        made.append(ProgramStep(op=kind, inputs=(source,), outputs=(target,), axes=("ranks",), attrs=attrs))

    def dot(one: str, other: str, target: str) -> None:
        if not alone:
            made.append(ProgramStep(op="dot", inputs=(one, other), outputs=(target,), axes=()))

    for layer in reversed(layers) if step.backward else layers:
        # The first layer's weights are needed for no gradient.
        if gathers and (layer or not step.backward):
            meet("all_gather", f"w{layer}", weights[layer], axis=0, tiled=True)
        if not step.backward:
            dot(f"h{layer}" if layer else "x", weights[layer], f"h{layer + 1}")
            continue
        gradient = f"r{layer}" if part == "computation" else f"d{layer}"
        dot(f"t{layer}", f"g{layer + 1}", gradient)
        if part != "computation":
            source = gradient if not alone else weights[max(layer, 1)]
            how = {"op": "sum", "axis": 0, "tiled": True} if step.sharded else {"op": "sum"}
            meet("reduce_scatter" if step.sharded else "all_reduce", source, f"r{layer}", **how)
        if layer:
            dot(f"g{layer + 1}", weights[layer], f"g{layer}")
    named = (f"r{layer}" for layer in layers) if step.backward else weights if alone else (f"h{step.layers}",)
    return Program(mesh=(Axis("ranks", step.ranks),), steps=tuple(made), results=tuple(named))


def wrong(found: Sequence[Array], expected: Sequence[Array]) -> int:
    """Return how many elements are further from what is right than rounding explains; all where the shape differs."""
    total = 0
    for one, other in zip(found, expected, strict=True):
        alike = one.shape == other.shape
        total += int((~np.isclose(one, other, rtol=1e-3, atol=1e-3)).sum()) if alike else other.size
    return total
