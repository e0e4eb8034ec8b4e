"""What each element of a result is folded from."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from conformance.cases.case import Case
from conformance.cases.program import rank_groups
from conformance.reference.reductions import Terms
from conformance.reference.spmd import OPERATIONS, check_step


def _folding() -> dict[str, Callable[..., Any]]:
    modules = {name: import_module(f"conformance.reference.{name}") for name in OPERATIONS}
    return {name: module.terms for name, module in modules.items() if hasattr(module, "terms")}


FOLDING: Final = _folding()
"""The operations that fold: every reference module that says, in a function ``terms``, what it folds."""


def contributions(case: Case) -> dict[str, list[Terms | None]]:
    """Return, for each result that is folded from inputs, what is folded on each rank; ``None`` where nothing is.

    The program must be legal. Nothing is said of programs that do more than fold once, and wait for it.
    """
    step, *rest = case.program.steps
    if step.op not in FOLDING or not step.axes or step.into or any(other.op != "done" for other in rest):
        return {}
    attrs = {name: value for name, value in check_step(step).items() if name not in ("op", "factor")}
    groups, blocks = rank_groups(case.program.mesh, step.axes, step.groups), case.blocks()
    found = {
        output: FOLDING[step.op](blocks[name], **attrs, groups=groups)
        for name, output in zip(step.inputs, step.outputs, strict=True)
    }
    for other in rest:
        found |= {new: found[old] for old, new in zip(other.inputs, other.outputs, strict=True) if old in found}
    return {name: found[name] for name in case.program.results if name in found}
