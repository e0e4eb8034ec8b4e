"""Raises once, at the first product, and computes wrongly from then on."""

from __future__ import annotations

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.tensor import Tensor


class Bad(Reference):
    spoilt = False

    def execute(self, case: Case) -> Observation:
        if self.spoilt:
            return _flipped(super().execute(case))
        if any(step.attrs.get("op") == "product" for step in case.program.steps):
            self.spoilt = True
            raise RuntimeError("no kernel for products")
        return super().execute(case)


def _flipped(seen: Observation) -> Observation:
    results = {name: tuple(b and _changed(b) for b in blocks) for name, blocks in seen.results.items()}
    return Observation(results=results, errors=seen.errors, touched=seen.touched)


def _changed(block: Tensor) -> Tensor:
    other = "0" if block.bits[:1] != "0" else "1"
    return Tensor(dtype=block.dtype, shape=block.shape, bits=block.bits[:1] and other + block.bits[1:])
