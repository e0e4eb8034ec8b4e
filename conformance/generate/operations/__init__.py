"""How operations are drawn that are not drawn as others are: one file each.

Most operations have no file: their attributes are those that others have, of which ``calls.vocabulary`` says how they
are drawn. ``programs`` is the choice of an operation's cases, legal and barely illegal. ``calls`` draws a call of it,
which stands alone or is one of several steps, of an operation that makes of one block a rank another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Final

from conformance.cases.case import Case
from conformance.generate.calls.call import Drawn
from conformance.generate.calls.draft import Draft, draft, groups_of
from conformance.generate.calls.vocabulary import call_of
from conformance.generate.choices import Choice, Draw, composite
from conformance.reference.operations import TABLE
from conformance.specs.op import BLOCKWISE
from conformance.specs.operations import OPS

_MODULES: Final[dict[str, ModuleType]] = {
    name: import_module(f"{__name__}.{name}") for name in sorted(module.name for module in iter_modules(__path__))
}


def _call(op: str, draw: Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a call of an operation that has no file; raise ``TypeError`` where it has an attribute that no other has."""
    found = call_of(draw, op, drawn, shapes)
    if found is None:
        raise TypeError(f"no function 'calls' in conformance/generate/operations/{op}.py says how it is drawn")
    return found


CALLS: Final[dict[str, Callable[[Draw, Draft, str], Drawn]]] = {
    name: getattr(_MODULES.get(name), "calls", partial(_call, name)) for name in BLOCKWISE
}
"""Of every operation that makes of one block a rank another what draws a call of it."""

CALLED: Final = tuple(CALLS)
"""The operations that make of one block a rank another, for which programs of several steps are drawn."""


@composite
def _lone(draw: Draw, op: str) -> Case:
    """Draw a call of an operation that stands alone, over any axes and any partition that it allows."""
    drawn = draft(draw, groups=groups_of(op))
    if op not in CALLS:
        return drawn.program(op, {}, ("y",) if TABLE[op].result != "nothing" else (), {})
    drawn, call = CALLS[op](draw, drawn.alone, "any")
    return drawn.case(op, shape=call.operand[0], attrs=call.attrs, values=call.values)


def _domain(op: str) -> Choice[Case]:
    """Return the choice of the cases of an operation; raise ``ImportError`` where nothing says how it is drawn."""
    if hasattr(_MODULES.get(op), "programs"):
        return Choice(_MODULES[op].programs().make)
    if op not in CALLS and TABLE[op].attributes:
        raise ImportError(f"no function 'programs' in conformance/generate/operations/{op}.py says how it is drawn")
    return _lone(op)


DOMAINS: Final[dict[str, Choice[Case]]] = {name: _domain(name) for name in OPS}
"""Of every operation the choice of its cases."""
