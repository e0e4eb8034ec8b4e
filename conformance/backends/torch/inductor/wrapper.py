"""The wrapper that Inductor writes: which names are new memory, which the memory of others, and what it returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.backends.base import Unsupported


@dataclass(frozen=True)
class View:
    """Memory as a name shows it: the name that it was made under, and where it begins there, in elements.

    ``sizes`` and ``strides`` are those of a view that is returned; ``None`` where the name has its own.
    """

    storage: str
    offset: int = 0
    sizes: tuple[int, ...] | None = None
    strides: tuple[int, ...] = ()


@dataclass
class Wrapper:
    """The memory of each name, and what is returned, in order."""

    names: dict[str, View] = field(default_factory=dict)
    returned: list[View] = field(default_factory=list)

    def view(self, name: str) -> View:
        """Return the memory that a name shows; an argument is memory of its own."""
        return self.names.get(name, View(name))


def read_wrapper(text: str) -> Wrapper:
    """Return what the function ``call`` of a wrapper says of memory; raise ``Unsupported`` for what is not known."""
    found = Wrapper()
    for line in _body(ast.parse(text)):
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            name = line.targets[0].id
            alias = _alias(found, line.value)
            found.names[name] = alias or View(name)
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


def _alias(found: Wrapper, value: ast.expr) -> View | None:
    """Return the memory that an expression is a name of, or ``None`` for what a call has made."""
    if isinstance(value, ast.Name):
        return found.view(value.id)
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "reinterpret_tensor":
        of = _required(found, value.args[0])
        sizes, strides, offset = (ast.literal_eval(each) for each in value.args[1:4])
        return View(of.storage, of.offset + offset, tuple(sizes), tuple(strides))
    if isinstance(value, ast.Subscript):
        raise Unsupported("a call with several results")
    return None


def _required(found: Wrapper, value: ast.expr) -> View:
    view = _alias(found, value)
    if view is None:
        raise Unsupported(f"{ast.unparse(value)[:40]}, whose memory the wrapper does not tell")
    return view
