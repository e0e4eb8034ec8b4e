"""Code of the reference that a page shows: functions, classes and constants, and all of them that these use.

A page shows functions that it is about, and below them what they call, so that it can be read without the repository.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from conformance.specification.names import CUT, ELSEWHERE, TOLD, WRITTEN_OUT

REFERENCE: Final = "conformance.reference."

Beyond = tuple[str, ...]
"""Beginnings of the names of modules whose code another page shows."""


@dataclass(frozen=True)
class Code:
    """A definition: its module, its name, its syntax tree and its text."""

    module: str
    name: str
    tree: ast.stmt
    text: str

    @property
    def key(self) -> str:
        """Return its name with that of its module, inside the reference."""
        return f"{self.module.removeprefix(REFERENCE).removeprefix('conformance.')}.{self.name}"


def shown(roots: Iterable[Callable[..., Any]], beyond: Beyond = ()) -> list[Code]:
    """Return the code of functions, and of whatever in the reference it uses, each once, in the order of its use.

    What lies in modules whose names begin as ``beyond`` says is left to another page.
    """
    found: dict[tuple[str, str], Code] = {}
    waiting = [_home(root) for root in roots]
    while waiting:
        module, name = waiting.pop(0)
        code = _definition(module, name)
        if code is None or not _is_shown(code, beyond) or (code.module, code.name) in found:
            continue
        found[code.module, code.name] = code
        waiting += [(sys.modules[code.module], each) for each in sorted(_names(code.tree))]
    return list(found.values())


def function_lines(functions: Iterable[Callable[..., Any]]) -> list[str]:
    """Return the lines of functions alone, each with its source."""
    return [line for each in functions for line in _quoted(inspect.getsource(inspect.unwrap(each)).rstrip())]


BENEATH: Final = ("operations.", "groups.", "reductions.folded", "reductions.fold")
"""Beginnings of the keys of what is printed beneath the function that uses it; the rest is linked."""


def beneath_lines(function: Callable[..., Any]) -> list[str]:
    """Return the lines below a function: the code of what it calls, and links to what is in the last chapter."""
    module, name = _home(function)
    called = [code for code in shown([function]) if (code.module, code.name) != (module.__name__, name)]
    near = [code for code in called if code.key.startswith(BENEATH) and code.key != "reductions.Terms"]
    rest = [code for code in called if code not in near]
    title = f"<details><summary>It calls {', '.join(code.name for code in near)}</summary>"
    lines = [title, "", *_quoted("\n\n\n".join(code.text for code in near)), "</details>", ""] if near else []
    links = ", ".join(f"[`{code.key}`](#{_anchor(code)})" for code in sorted(rest, key=lambda each: each.key))
    return [*lines, *([f"The rest is in the last chapter: {links}.", ""] if rest else [])]


def _anchor(code: Code) -> str:
    return f"code-{code.key.replace('.', '-').replace('_', '-').lower()}"


def called_lines(roots: Iterable[Callable[..., Any]], beyond: Beyond = ()) -> list[str]:
    """Return the lines of the last chapter of a page: what its functions use, and the names defined elsewhere."""
    roots = list(roots)
    own = {(module.__name__, name) for module, name in map(_home, roots)}
    codes = shown(roots, beyond)
    lines = [
        "The functions above use these, which are part of their meaning. The table at the end has the names that are",
        "defined elsewhere.",
        "",
    ]
    for code in sorted((each for each in codes if (each.module, each.name) not in own), key=lambda each: each.key):
        lines += [f'<a id="{_anchor(code)}"></a>**`{code.key}`**', "", *_quoted(code.text)]
    named = sorted(set().union(*(foreign(code, beyond) for code in codes)) & set(ELSEWHERE))
    return [*lines, "| name | meaning |", "| --- | --- |", *[f"| `{n}` | {ELSEWHERE[n]} |" for n in named], ""]


def foreign(code: Code, beyond: Beyond = ()) -> set[str]:
    """Return the names of code that its page does not show the code of: of this project, and renamed ones of others."""
    module = sys.modules[code.module]
    known = {name for name in _names(code.tree) if hasattr(module, name) and not hasattr(builtins, name)}
    return {name for name in known if _is_foreign(module, name, beyond)}


def _is_foreign(module: ModuleType, name: str, beyond: Beyond) -> bool:
    if _is_module(module, name):
        return str(getattr(module, name).__name__).startswith("conformance.")
    code = _definition(module, name)
    return _is_renamed(module, name) if code is None else not _is_shown(code, beyond)


def _is_renamed(module: ModuleType, name: str) -> bool:
    """Return whether a module has something of a library under a name of its own."""
    imported = (each for each in _parsed(module)[1] if isinstance(each, ast.ImportFrom))
    return any(alias.asname == name != alias.name for each in imported for alias in each.names)


def _is_module(module: ModuleType, name: str) -> bool:
    return inspect.ismodule(getattr(module, name))


def _is_shown(code: Code, beyond: Beyond) -> bool:
    if code.module in WRITTEN_OUT:
        return True
    if code.key in TOLD:
        return False
    inner = code.module.removeprefix(REFERENCE)
    return inner != code.module and inner not in CUT and not inner.startswith(beyond)


def _home(function: Callable[..., Any]) -> tuple[ModuleType, str]:
    plain = inspect.unwrap(function)
    return sys.modules[plain.__module__], plain.__name__


@cache  # asked for a name by every page and function that uses it
def _definition(module: ModuleType, name: str) -> Code | None:
    """Return the definition of a name in the project, in the module that has it; ``None`` for any other name."""
    if not module.__name__.startswith("conformance."):
        return None
    source, body = _parsed(module)
    for number, each in reversed(list(enumerate(body))):  # the last one of several: the others are overloads
        if isinstance(each, ast.ImportFrom):
            for alias in each.names:
                if name == (alias.asname or alias.name) and each.module is not None:
                    return _definition(import_module(each.module), alias.name)
        if name in _defined(each):
            text = "\n".join(ast.get_source_segment(source, part) or "" for part in _with_docstring(body, number))
            return Code(module.__name__, name, each, _decorated(source, each, text))
    return None


@cache
def _parsed(module: ModuleType) -> tuple[str, list[ast.stmt]]:
    source = inspect.getsource(module)
    return source, ast.parse(source).body


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (each.id for each in targets if isinstance(each, ast.Name))


def _with_docstring(body: list[ast.stmt], number: int) -> list[ast.stmt]:
    """Return a statement, and the text below it that says what a constant is."""
    below = body[number + 1 : number + 2] if isinstance(body[number], ast.Assign | ast.AnnAssign) else []
    said = [each for each in below if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)]
    return [body[number], *said]


def _decorated(source: str, statement: ast.stmt, text: str) -> str:
    """Return the text with the decorators, which ``ast`` counts as no part of a definition."""
    if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return text
    lines = [f"@{ast.get_source_segment(source, each)}" for each in statement.decorator_list]
    return "\n".join([*lines, text])


def _names(tree: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}


def _quoted(text: str) -> list[str]:
    return ["```python", text, "```", ""]
