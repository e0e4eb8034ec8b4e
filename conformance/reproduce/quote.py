"""Quoting: the source text of functions, with all the definitions of ours that they need and the imports of others."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

OURS = "conformance"


@dataclass
class Quotation:
    """Imports and definitions, each once, in an order in which they can be executed.

    ``given`` are names that the script defines by itself.
    """

    given: frozenset[str] = frozenset()
    imports: dict[str, None] = field(default_factory=dict)
    definitions: dict[tuple[str, str], str] = field(default_factory=dict)
    _open: set[tuple[str, str]] = field(default_factory=set)

    def add(self, *objects: Any) -> Quotation:
        """Quote functions and classes with what they need."""
        for one in objects:
            self._name(one.__module__, one.__name__)
        return self

    def _name(self, module: str, name: str) -> None:
        key = module, name
        if name in self.given or key in self.definitions or key in self._open:
            return
        found = _definitions(import_module(module)).get(name)
        if found is None:
            return
        if isinstance(found, ast.Import | ast.ImportFrom):
            self._import(found, name)
            return
        self._open.add(key)
        for needed in _loaded(found):
            self._name(module, needed)
        self._open.discard(key)
        self.definitions[key] = _text(found)

    def _import(self, found: ast.Import | ast.ImportFrom, name: str) -> None:
        if isinstance(found, ast.ImportFrom) and (found.module or "").partition(".")[0] == OURS:
            alias = next(each for each in found.names if (each.asname or each.name) == name)
            self._name(str(found.module), alias.name)
            return
        alias = next(each for each in found.names if (each.asname or each.name.partition(".")[0]) == name)
        single = ast.Import([alias]) if isinstance(found, ast.Import) else ast.ImportFrom(found.module, [alias], 0)
        self.imports[ast.unparse(single)] = None


@cache
def _definitions(module: ModuleType) -> dict[str, ast.stmt]:
    """Return the statements of a module that bind a name, by name."""
    found: dict[str, ast.stmt] = {}
    for statement in ast.parse(inspect.getsource(module)).body:
        for name in _bound(statement):
            found.setdefault(name, statement)
    return found


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets: Iterable[ast.expr] = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def _loaded(statement: ast.stmt) -> list[str]:
    """Return the names that are looked up outside of a definition when it is executed or called.

    Annotations are not, nor what a function binds itself: its parameters, and what it assigns.
    """
    bare = _Bare().visit(ast.parse(ast.unparse(statement)))
    return list(dict.fromkeys(_free(bare)))


def _free(node: ast.AST) -> Iterator[str]:
    inner = [name for child in ast.iter_child_nodes(node) for name in _free(child)]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.Lambda):
        bound = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        stores = (each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
        own = bound | {each.id for each in stores}
        yield from (name for name in inner if name not in own)
    else:
        yield from inner


def _text(statement: ast.stmt) -> str:
    return ast.unparse(_Bare().visit(ast.parse(ast.unparse(statement))))


class _Bare(ast.NodeTransformer):
    """Leaves out annotations and our own markers, of whose an exception is and what is claimed."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        node.decorator_list = [each for each in node.decorator_list if not _marker(each)]
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Keep that a field is one: in the body of a class an annotation says so, whatever it names."""
        for each in node.body:
            if isinstance(each, ast.AnnAssign):
                each.annotation = ast.Name("object", ast.Load())
            else:
                self.visit(each)
        node.decorator_list = [each for each in node.decorator_list if not _marker(each)]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None or not isinstance(node.target, ast.Name):
            return node
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        return node.body if all(_marker(item.context_expr) for item in node.items) else node


def _marker(expression: ast.expr) -> bool:
    return (
        isinstance(expression, ast.Call)
        and isinstance(expression.func, ast.Name)
        and expression.func.id in ("framework", "adapter", "claimed")
    )
