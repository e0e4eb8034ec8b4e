"""StableHLO's reference interpreter, by the bindings that jaxlib has for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jax.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from conformance.backends.attribution import adapter
from conformance.backends.stablehlo.elements import carried, carriers, uncarried
from conformance.backends.stablehlo.module import Module, joined
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
        (found,) = self.evaluated([module], [blocks])
        return found

    def evaluated(self, modules: Sequence[Module], blocks: Sequence[Sequence[Array]]) -> list[list[Array]]:
        """Return what ``evaluate`` does for each of several modules, which are parsed and evaluated as one."""
        with self._context, ir.Location.unknown():
            parsed = ir.Module.parse(modules[0].text if len(modules) == 1 else joined(modules))
            bits = [part for one, each in zip(modules, blocks, strict=True) for part in _integers(one, each)]
            given = [ir.DenseElementsAttr.get(each.data) for each in bits]
            found = [np.array(each) for each in stablehlo.eval_module(parsed, given)]
        left = iter(found)
        return [_blocks(one, left) for one in modules]

    def verify(self, module: Module) -> None:
        """Raise whatever the verifier raises of a module."""
        with self._context, ir.Location.unknown():
            ir.Module.parse(module.text)


@adapter()
def _integers(module: Module, blocks: Sequence[Array]) -> list[Array]:
    dtypes = [value.dtype for value in module.taken] * module.world
    return [bits for block, dtype in zip(blocks, dtypes, strict=True) for bits in carried(block, dtype)]


@adapter()
def _blocks(module: Module, left: Iterator[Array]) -> list[Array]:
    return [
        uncarried([next(left) for _ in carriers(value.dtype)], value.dtype, value.shape)
        for _ in range(module.world)
        for value in module.results
    ]
