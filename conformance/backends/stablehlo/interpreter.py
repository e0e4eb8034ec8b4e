"""StableHLO's reference interpreter, by the bindings that jaxlib has for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jax.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from conformance.backends.attribution import adapter
from conformance.backends.stablehlo.elements import carried, carriers, uncarried
from conformance.backends.stablehlo.module import Module
from conformance.cases.tensor.dtypes import Array


class Interpreter:
    """One context, in which modules are parsed and evaluated one after the other."""

    def __init__(self) -> None:
        """Register the operations of the interpreter beside those of StableHLO."""
        self._context = make_ir_context()
        stablehlo.register_interpreter_dialect(self._context)

    @property
    def version(self) -> str:
        """Return the version of StableHLO."""
        return str(stablehlo.get_current_version())

    def evaluate(self, module: Module, blocks: Sequence[Array]) -> list[Array]:
        """Return the results of every process in turn, for the inputs of every process in turn.

        Raise whatever the verifier or the interpreter raises. What they abort over ends the process.
        """
        with self._context, ir.Location.unknown():
            parsed = ir.Module.parse(module.text)
            given = [ir.DenseElementsAttr.get(bits.data) for bits in _integers(module, blocks)]
            found = [np.array(each) for each in stablehlo.eval_module(parsed, given)]
        return _blocks(module, found)


@adapter()
def _integers(module: Module, blocks: Sequence[Array]) -> list[Array]:
    dtypes = [value.dtype for value in module.taken] * module.world
    return [bits for block, dtype in zip(blocks, dtypes, strict=True) for bits in carried(block, dtype)]


@adapter()
def _blocks(module: Module, found: Sequence[Array]) -> list[Array]:
    left: Iterator[Array] = iter(found)
    return [
        uncarried([next(left) for _ in carriers(value.dtype)], value.dtype, value.shape)
        for _ in range(module.world)
        for value in module.results
    ]
