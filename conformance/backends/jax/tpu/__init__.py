"""XLA's compiler for TPUs under judgement, on a machine without one: compiled, and evaluated by NumPy.

``libtpu`` compiles for a topology that is described and not there. What it makes, scheduled HLO with collectives that
are started and ended, copies into other memories and asynchronous fusions, is read; ``pairs`` says whether it is
consistent, and ``evaluate`` what it means. So what is judged is what the compiler makes of a program, not what a chip
computes of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from conformance.backends.base import Backend, Claims, Unsupported
from conformance.backends.case_arrays import place_inputs, tensors, touched
from conformance.backends.exceptions import rank_error
from conformance.backends.jax import effectful
from conformance.backends.jax.devices import start
from conformance.backends.jax.tpu.claims import NUMBERS, claims
from conformance.backends.jax.tpu.topology import chosen
from conformance.backends.jax.tpu.topology import start as start_compiler
from conformance.cases.case import Case
from conformance.cases.declarations.number_model import Declared
from conformance.cases.observation import Observation, RankError

if TYPE_CHECKING:
    from conformance.backends.jax.hlo.module import Module
    from conformance.cases.tensor.dtypes import Array


class TpuSchedule(Backend):
    """Compiles every program as a whole for the first devices of a topology."""

    name = "jax-tpu-schedule"
    system = "jax"
    adapts = True
    case_limit: ClassVar = 60.0
    """A compilation takes 0.3 s, at times 8 (libtpu 0.0.42.1, two cores)."""

    def __init__(self) -> None:
        """Start the compiler; raise ``ImportError`` where it cannot be."""
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        start()
        self._devices = start_compiler()
        self._known: dict[bytes, Module | RankError] = {}

    @cached_property
    def claims(self) -> Claims:
        """Return what JAX documents for TPUs."""
        return claims(len(self._devices))

    @property
    def follows(self) -> tuple[str, ...]:
        """Return the source whose documented divergences are this framework's."""
        return ("jax",)

    @property
    def number_model(self) -> Declared:
        """Return what the compiler chooses about numbers."""
        return NUMBERS

    def describe(self) -> dict[str, str]:
        """Return versions and the topology."""
        return {
            "jax": version("jax"),
            "jaxlib": version("jaxlib"),
            "libtpu": version("libtpu"),
            "topology": chosen(),
            "mode": "compiled for a topology that is not there; NumPy evaluates the HLO",
        }

    def execute(self, case: Case) -> Observation:
        """Compile the program and evaluate what was compiled."""
        if effectful(case.program) or case.troubled:
            raise Unsupported("a program is compiled as one function")
        began = time.perf_counter()
        placed = place_inputs(case)
        inputs = {name: [view for _, view in ranks] for name, ranks in placed.items()}
        results: dict[str, Any] = {}
        error = None
        try:
            made = self._compiled(case, inputs)
            if isinstance(made, RankError):
                error = made
            else:
                results = tensors(import_module("conformance.backends.jax.tpu.ranks").run(made, case.program, inputs))
        except Exception as raised:  # noqa: BLE001 - whatever JAX raises is the observation
            error = rank_error(raised, adapts=self.adapts)
        errors = (error,) * case.program.world if error else ()
        seconds = time.perf_counter() - began
        return Observation(
            results=results, errors=errors, touched=touched(case, placed, inside=error is not None), seconds=seconds
        )

    def _compiled(self, case: Case, inputs: Mapping[str, list[Array]]) -> Module | RankError:
        kinds = {name: sorted({(block.shape, block.dtype) for block in x.blocks}) for name, x in case.inputs.items()}
        for name, found in kinds.items():
            if len(found) != 1:
                raise Unsupported(f"{name}: JAX gives every rank a block of one shape and dtype, got {found}")
        key = msgspec.json.encode((case.program, kinds))
        if key not in self._known:
            if len(self._known) > 64:
                self.close()
            from conformance.backends.jax.tpu import ranks

            try:
                self._known[key] = ranks.compiled(case.program, inputs, self._devices)
            except Exception as refusal:  # noqa: BLE001 - as data, for the exception would keep all that was traced
                self._known[key] = rank_error(refusal, adapts=self.adapts)
        return self._known[key]

    def close(self) -> None:
        """Drop what was compiled."""
        import jax

        self._known.clear()
        jax.clear_caches()
