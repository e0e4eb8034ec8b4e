"""Quoting: the source text of functions, with all the definitions of ours that they need and the imports of others."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import count
from types import ModuleType
from typing import Any

OURS = "conformance"


@dataclass
class Quotation:
    """Imports and definitions, each once, in an order in which they can be executed.

    ``given`` are names that the script defines by itself. Of two modules that mean different things by a name, the
    second to come has it with a number.
    """

    given: frozenset[str] = frozenset()
    imports: dict[str, None] = field(default_factory=dict)
    definitions: dict[tuple[str, str], str] = field(default_factory=dict)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, *objects: Any) -> Quotation:
        """Quote functions and classes with what they need."""
        for one in objects:
            self._name(one.__module__, one.__name__)
        return self

    def name_of(self, one: Any) -> str:
        """Return the name that a quoted function or class has in the script."""
        return self._names[one.__module__, one.__name__]

    def _name(self, module: str, name: str) -> str:
        """Quote what a module means by a name, and return its name in the script."""
        key = module, name
        if name in self.given:
            return name
        if key in self._names:
            return self._names[key]
        found = _definitions(import_module(module)).get(name)
        if found is None:
            return name
        if isinstance(found, ast.Import | ast.ImportFrom):
            return self._import(found, name)
        own = self._free(key, name)
        needed = {each: self._name(module, each) for each in _loaded(found)}
        self.definitions[key] = _text(found, {old: new for old, new in {**needed, name: own}.items() if old != new})
        return own

    def _free(self, key: tuple[str, str], name: str) -> str:
        """Return the name of what ``key`` stands for: that which it has, or with a number where it is taken."""
        taken = set(self._names.values())
        number = next(number for number in count(1) if (name if number == 1 else f"{name}_{number}") not in taken)
        self._names[key] = name if number == 1 else f"{name}_{number}"
        return self._names[key]

    def _import(self, found: ast.Import | ast.ImportFrom, name: str) -> str:
        if isinstance(found, ast.ImportFrom) and (found.module or "").partition(".")[0] == OURS:
            alias = next(each for each in found.names if (each.asname or each.name) == name)
            return self._name(str(found.module), alias.name)
        alias = next(each for each in found.names if (each.asname or each.name.partition(".")[0]) == name)
        single = ast.Import([alias]) if isinstance(found, ast.Import) else ast.ImportFrom(found.module, [alias], 0)
        key = "", ast.unparse(single)
        own = self._names.get(key) or self._free(key, name)
        if own != name:
            alias = ast.alias(alias.name, own)
            single = ast.Import([alias]) if isinstance(found, ast.Import) else ast.ImportFrom(found.module, [alias], 0)
        self.imports[ast.unparse(single)] = None
        return own


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


def _text(statement: ast.stmt, renamed: Mapping[str, str]) -> str:
    bare = _Bare().visit(ast.parse(ast.unparse(statement)))
    return ast.unparse(_Renamed(renamed).visit(bare) if renamed else bare)


class _Renamed(ast.NodeTransformer):
    """Gives names the ones that they have in the script; who binds such a name by itself keeps it."""

    def __init__(self, renamed: Mapping[str, str]) -> None:
        self.renamed = renamed

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.renamed.get(node.id, node.id), node.ctx), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._defined(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._defined(node)

    def _defined(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self.renamed.get(node.name, node.name)
        return node


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
