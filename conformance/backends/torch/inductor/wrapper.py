"""The wrapper that Inductor writes: which names are new memory, which the memory of others, and what it returns.

Of calls of collectives it has the operator, what it is given, and the names of what it makes, in the order of the text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.backends.base import Unsupported
from conformance.backends.torch.inductor.wrapper_runs import LASTING, Runs


@dataclass(frozen=True)
class View:
    """Memory as a name shows it: the name that it was made under, and where it begins there, in elements.

    ``sizes`` and ``strides`` are those of a view that is returned; ``None`` where the name has its own.
    """

    storage: str
    offset: int = 0
    sizes: tuple[int, ...] | None = None
    strides: tuple[int, ...] = ()


NAMESPACES: Final = ("_c10d_functional", "_dtensor", "symm_mem")
"""Those of the operators that communicate."""


@dataclass
class Called:
    """A call of an operator that communicates: a value that it is given is memory, a list of it, or a constant.

    ``made`` are the names of its results, one for each where there are several.
    """

    operator: str
    given: tuple[Any, ...]
    named: dict[str, Any]
    made: list[str]


@dataclass
class Wrapper:
    """The memory of each name, what is returned, and the calls that communicate, both in order.

    ``allocations`` are the names of memory that lasts, by the name that it is made under, in the first of the ``runs``.
    """

    names: dict[str, View] = field(default_factory=dict)
    returned: list[View] = field(default_factory=list)
    calls: list[Called] = field(default_factory=list)
    several: dict[str, Called] = field(default_factory=dict)
    allocations: dict[str, str] = field(default_factory=dict)
    runs: Runs | None = None

    def view(self, name: str) -> View:
        """Return the memory that a name shows; an argument is memory of its own."""
        return self.names.get(name, View(name))


def read_wrapper(text: str) -> Wrapper:
    """Return what the function ``call`` of a wrapper says of memory; raise ``Unsupported`` for what is not known."""
    found, lines = Wrapper(), list(_body(ast.parse(text)))
    if LASTING in text:
        found.runs = Runs(lines)
        found.allocations = found.runs.run()
    for line in lines:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            name = line.targets[0].id
            called = _communicating(found, line.value)
            if called is not None:
                found.several[name] = called
                called.made.append(name)
            elif _part_of(found, line.value) is not None:
                found.several[line.value.value.id].made.append(name)  # type: ignore[attr-defined]  # a part has a name
            alias = None if called is not None else _alias(found, line.value)
            found.names[name] = alias or View(name)
        elif isinstance(line, ast.Expr):
            _communicating(found, line.value)
        elif isinstance(line, ast.Return):
            values = line.value.elts if isinstance(line.value, ast.Tuple) else []
            found.returned = [_required(found, each) for each in values]
    return found


def _body(module: ast.Module) -> Iterator[ast.stmt]:
    for each in ast.walk(module):
        if isinstance(each, ast.FunctionDef) and each.name == "call":
            yield from each.body
            return
    raise Unsupported("a wrapper without a function that is called")


def _communicating(found: Wrapper, value: ast.expr) -> Called | None:
    """Add the call that an expression is, where that communicates, and return it."""
    path = ast.unparse(value.func).split(".") if isinstance(value, ast.Call) else []
    if not isinstance(value, ast.Call) or path[:2] != ["torch", "ops"] or path[2] not in NAMESPACES:
        return None
    called = Called(
        ".".join(path[2:4]),
        tuple(_given(found, each) for each in value.args),
        {each.arg: _given(found, each.value) for each in value.keywords if each.arg is not None},
        [],
    )
    found.calls.append(called)
    return called


def _given(found: Wrapper, value: ast.expr) -> Any:
    """Return what a call is given: memory, a constant, or a list of either."""
    if isinstance(value, ast.List | ast.Tuple):
        return [_given(found, each) for each in value.elts]
    alias = _alias(found, value)
    return ast.literal_eval(value) if alias is None else alias


def _part_of(found: Wrapper, value: ast.expr) -> str | None:
    """Return the name of the call whose results an expression takes one of."""
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and value.value.id in found.several:
        return value.value.id
    return None


def _alias(found: Wrapper, value: ast.expr) -> View | None:
    """Return the memory that an expression is a name of, or ``None`` for what a call has made."""
    if isinstance(value, ast.Name):
        return found.view(value.id)
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "reinterpret_tensor":
        of = _required(found, value.args[0])
        sizes, strides, offset = (ast.literal_eval(each) for each in value.args[1:4])
        return View(of.storage, of.offset + offset, tuple(sizes), tuple(strides))
    if isinstance(value, ast.Subscript) and _part_of(found, value) is None:
        raise Unsupported("a call with several results")
    return None


def _required(found: Wrapper, value: ast.expr) -> View:
    view = _alias(found, value)
    if view is None:
        raise Unsupported(f"{ast.unparse(value)[:40]}, whose memory the wrapper does not tell")
    return view
