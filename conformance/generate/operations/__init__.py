"""How each operation is drawn: one file each.

``programs`` is the choice of its cases, legal and barely illegal. ``calls`` draws a legal call of it for programs of
several steps, of an operation that makes of one block a rank another.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Final

from conformance.cases.case import Case
from conformance.generate.calls.draft import Draft
from conformance.generate.calls.legal_calls import Drawn
from conformance.generate.choices import Choice, Draw
from conformance.specs.op import BLOCKWISE
from conformance.specs.operations import OPS

_MODULES: Final[dict[str, ModuleType]] = {
    name: import_module(f"{__name__}.{name}") for name in sorted(module.name for module in iter_modules(__path__))
}


def _required(name: str, function: str) -> ModuleType:
    """Return the module of an operation.

    Raises ``ImportError`` where there is none, or it has not the function.
    """
    if not hasattr(_MODULES.get(name), function):
        raise ImportError(f"no function {function!r} in conformance/generate/operations/{name}.py says how it is drawn")
    return _MODULES[name]


DOMAINS: Final[dict[str, Choice[Case]]] = {name: _required(name, "programs").programs() for name in OPS}
"""Of every operation the choice of its cases."""

CALLS: Final[dict[str, Callable[[Draw, Draft, str], Drawn]]] = {
    name: _required(name, "calls").calls for name in BLOCKWISE
}
"""Of every operation that makes of one block a rank another what draws a legal call of it."""

CALLED: Final = tuple(CALLS)
"""The operations that make of one block a rank another, for which programs of several steps are drawn."""
