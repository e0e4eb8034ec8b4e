"""Lines of scripts say what steps compute as the reference computes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.jax.devices import start
from conformance.cases.graph.elementwise import ARITY, TAKES
from conformance.cases.graph.fit import FOLDS
from conformance.cases.program.program import Step
from conformance.reference.computing import compute
from conformance.reproduce.computing import System, computing_line

LEFT = {
    "int32": np.array([[7, -7, 3], [1, 2, 9]], np.int32),
    "float32": np.array([[0.5, 2, 3], [4, 8, 0.25]], np.float32),
}
STEPS = [
    *((op, "float32", {"op": op}) for op in ARITY if "float" in TAKES.get(op, {"float"})),
    *((op, "int32", {"op": op}) for op in ("add", "div", "mod", "and", "or", "xor", "not", "shl", "shr", "eq")),
    *((f"fold {op}", "int32", {"op": op, "axes": (0,)}) for op in FOLDS),
    ("fold", "float32", {"op": "add", "axes": (0, 1), "acc": "float64"}),
    ("cast", "float32", {"to": "int32"}),
    ("dot", "int32", {}),
    ("dot", "float32", {"acc": "float64"}),
]


@pytest.mark.parametrize("system", ["np", "jnp", "torch"])
def test_a_line_gives_what_the_step_does(system: System) -> None:
    names: dict[str, Any] = {"np": np}
    if system == "jnp":
        jax = pytest.importorskip("jax")
        start()  # Tests after this one in its process need all devices.
        names |= {"jnp": jax.numpy, "lax": jax.lax}
    make = names["jnp"].asarray if system == "jnp" else np.array
    if system == "torch":
        torch = pytest.importorskip("torch")
        names, make = names | {"torch": torch}, torch.from_numpy
    for word, dtype, attrs in STEPS:
        if system == "torch" and word in ("fold and", "fold or", "fold xor"):
            continue  # Torch has no such reduction, and does not claim it.
        op = word.split()[0] if word.split()[0] in ("fold", "cast", "dot") else "alu"
        count = ARITY[word] if op == "alu" else 2 if op == "dot" else 1
        right = LEFT[dtype].T.copy() if op == "dot" else LEFT[dtype][::-1].copy()
        blocks = [LEFT[dtype] > 1, *(LEFT[dtype], right)] if word == "where" else [LEFT[dtype], right][:count]
        if word in ("shl", "shr"):
            blocks[1] = np.abs(blocks[1]) % 4
        step = Step(op=op, inputs=("a", "b", "c")[:count], outputs=("z",), axes=(), attrs=attrs)
        held = {name: make(block.copy()) for name, block in zip("abc", blocks, strict=False)}
        exec(computing_line(step, step.inputs, "z", system, whole=dtype == "int32"), names, held)
        wanted = compute("", step, [[block] for block in blocks])[0]
        found = np.asarray(held["z"])
        assert found.dtype == wanted.dtype, word
        assert np.allclose(found, wanted, rtol=1e-5), word
