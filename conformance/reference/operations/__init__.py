"""The meaning of every operation: one file each, whose function bears its name and declares its row.

What must hold of an operation stands in ``specs.operations``, how it is drawn in ``generate.operations``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Final

from conformance.cases.program.operations import TABLE

MODULES: Final[dict[str, ModuleType]] = {
    module.name: import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)
}
"""Every file by the name of its operation."""

OPERATIONS: Final[dict[str, Callable[..., Any]]] = {name: getattr(module, name) for name, module in MODULES.items()}

FOLDED: Final[dict[str, Callable[..., Any]]] = {
    name: module.terms for name, module in MODULES.items() if hasattr(module, "terms")
}
"""Of every operation whose file says in a function ``terms`` what it folds on each rank, that function."""

PARTS: Final[dict[str, Callable[..., range]]] = {
    name: module.part for name, module in MODULES.items() if hasattr(module, "part")
}
"""Of every operation that folds on each rank a part of its group alone, the function ``part`` that says which."""


def folded_positions(op: str, position: int, size: int, attrs: Mapping[str, Any]) -> range:
    """Return the positions whose blocks the member at ``position`` of a group of ``size`` folds."""
    return PARTS[op](position, size, **attrs) if op in PARTS else range(size)


__all__ = ["FOLDED", "MODULES", "OPERATIONS", "PARTS", "TABLE", "folded_positions"]
