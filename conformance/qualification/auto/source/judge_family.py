"""The family of the judge: the code of ``judging`` and of the checks in ``specs``, without what draws cases."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pkgutil import walk_packages
from typing import Final

from conformance import judging, specs
from conformance.qualification.auto.source.shadow import Family, source_of

DRAWING: Final = (
    *("domains", "scenarios", "domain", "rare"),
    *("data", "drawn_steps", "grammar", "steps", "states", "chains", "conjugates", "exactness"),
)
"""Folders and modules of ``specs`` that cases are drawn from."""

TELLING: Final = (
    "sources",
    "topics",
    "suite",
    "invariants",
    "long",
    "dtypes",
    "step_outcome",
    "advice",
    "case_features",
)
"""Modules that say something to people, or which cases are drawn, and change no verdict."""

CHECKS: Final = ("targets",)
"""Modules among those that draw that hold checks."""

MIXED: Final = ("operations", "suites")
"""Folders of ``specs`` whose modules have clauses and what cases are drawn from."""

BESIDE: Final = ("judging.cause.signature", "judging.cause.normalised", "judging.numbers.admissible.needed")
"""Functions that tell causes and words to reports, and no clause."""


def _changed() -> Iterator[str]:
    for package in (judging, specs):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            words = module.name.split(".")[2:]
            draws = not {*DRAWING}.isdisjoint(words) and words[-1] not in CHECKS
            if not module.ispkg and not draws and words[-1] not in TELLING:
                yield module.name


def _but(modules: tuple[str, ...]) -> Iterator[str]:
    yield from (f"conformance.{name}" for name in BESIDE)
    for module in modules:
        tree = ast.parse(source_of(module))
        mixed = module.split(".")[2] in MIXED
        yield from (f"{module}.{name}" for name in drawing(tree, mixed=mixed))


def drawing(tree: ast.Module, *, mixed: bool = False) -> frozenset[str]:
    """Return the functions of a module that draw, and those that only they, and what is drawn from, call.

    Where clauses and domains stand in one module, ``mixed``, no function is a check that no clause names.
    """
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    draws = {name for name, node in functions.items() if _draws(node)}
    reached = {name: _names(node) & functions.keys() for name, node in functions.items()}
    asked: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom):
            asked |= _names(_without_domains(node)) & functions.keys()
    public = set() if mixed else {name for name in functions if not name.startswith("_")}
    waiting = [*((asked | public) - draws)]
    kept: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            waiting += reached[name] - draws
    return frozenset(functions.keys() - kept)


def _draws(node: ast.FunctionDef) -> bool:
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    decorated = any("composite" in ast.unparse(each) for each in node.decorator_list)
    given = node.returns is not None and any(word in ast.unparse(node.returns) for word in ("Choice", "Domain"))
    return decorated or given or any(each.arg == "draw" for each in every)


class _Domains(ast.NodeTransformer):
    """Takes out the arguments that cases are drawn from."""

    def visit_keyword(self, node: ast.keyword) -> ast.keyword | None:
        if node.arg in ("domain", "domains", "examples", "edges", "calls"):
            return None
        self.generic_visit(node)
        return node


def _without_domains(node: ast.stmt) -> ast.AST:
    found: ast.AST = _Domains().visit(ast.parse(ast.unparse(node)))
    return found


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


_CHANGED: Final = tuple(_changed())

JUDGE: Final = Family(
    name="judge",
    packages=(
        *("conformance.judging", "conformance.specs", "conformance.runner.dialect", "conformance.runner.dialects"),
        "conformance.runner.meaning",
    ),
    backend="",
    # What a table says is for those who read clauses to judge; here functions are.
    tables=False,
    changed=_CHANGED,
    but=frozenset(_but(_CHANGED)),
)
"""The judge, whose changes frozen observations judge (``frozen``)."""
