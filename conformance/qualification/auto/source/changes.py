"""The changes of a module's source that mutants are made of, each with a name that does not depend on line numbers."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from conformance.qualification.auto.source.equivalent_changes import casts_in, idle, untold
from conformance.qualification.auto.source.operators import changes_of

Place = tuple[tuple[str, int | None], ...]
"""The way from the module to a node: fields, with the index in those that are lists."""

SKIPPED: Final = frozenset(
    {"annotation", "returns", "decorator_list", "type_ignores", "names", "exc", "msg", "type_params", "bases"}
)
"""Fields that hold no behaviour: types, decorators, the words of errors, base classes."""

TELLING: Final = frozenset(
    {"__repr__", "__str__", "__post_init__", "describe", "claims", "guarantees", "patience", "case_limit", "examples"}
)
"""Functions that say something of an implementation and do nothing; who claims less is not wrong."""


@dataclass(frozen=True)
class Change:
    """One change of one module: ``made`` stands at ``place`` of its tree.

    ``lines`` are those of which one has to be come to for the change to matter, ``below`` whether they are in a
    function, and not, as the defaults of its arguments are, executed once, by the import. ``statement`` is what it
    changes, and ``number`` tells equal changes of equal statements of a function apart.
    """

    module: str
    function: str
    kind: str
    lines: tuple[int, ...]
    below: bool
    statement: str
    place: Place
    outer: int
    made: ast.AST
    number: int

    @property
    def digest(self) -> str:
        """Return 16 hex digits that are the same as long as the changed statement is."""
        made = ast.unparse(ast.fix_missing_locations(self.made))
        words = (self.module, self.function, self.kind, self.statement, made, str(self.number))
        return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]

    def diff(self, source: str) -> str:
        """Return the changed statement of ``source`` as it was and as it is, on lines of their own."""
        tree, inner = ast.parse(source), self.place[self.outer :]
        now = ast.unparse(_short(_with(_at(tree, self.place[: self.outer]), inner, self.made)))
        was, now_lines = self.statement.splitlines(), now.splitlines()
        gone = [line for line in was if line not in now_lines]
        new = [line for line in now_lines if line not in was]
        gone, new = _near(gone, new)
        return "\n".join(
            (
                f"{self.module}:{self.lines[0]} in {self.function or 'the module'} ({self.kind})",
                *(f"- {line}" for line in gone),
                *(f"+ {line}" for line in new),
            )
        )


def changes(module: str, source: str, *, c_text: bool = False) -> list[Change]:
    """Return every change of a module, in the order of its source, but for those that change nothing (``idle``)."""
    tree = ast.parse(source)
    counts: Counter[tuple[str, ...]] = Counter()
    told: dict[Place, str] = {}
    found = []
    for place, node, statement, function in _places(tree, c_text=c_text):
        above, over, beyond = (_at(tree, place[: max(len(place) - up, 0)]) for up in (1, 2, 3))
        for kind, made in changes_of(node, c_text=c_text):
            if idle(kind, node, made, above, over, beyond):
                continue
            if statement not in told:
                told[statement] = ast.unparse(_short(_at(tree, statement)))
            key = (function, kind, told[statement], ast.unparse(ast.fix_missing_locations(made)))
            counts[key] += 1
            lines, number = _lines(_at(tree, statement), node), counts[key]
            below = any(
                isinstance(_at(tree, place[:at]), ast.FunctionDef | ast.Lambda) and place[at][0] != "args"
                for at in range(1, len(place))
            )
            found.append(
                Change(module, function, kind, lines, below, told[statement], place, len(statement), made, number)
            )
    return found


CAME: Final = "__came__"
"""The name in a changed module of the list that gets an element each time the change is come to."""


def changed_tree(source: str, change: Change) -> ast.Module:
    """Return the module's tree with the change in it, ready to be compiled.

    In the body of a function a call of ``CAME`` says that the changed statement, or lambda, is come to.
    """
    made = _with(ast.parse(source), change.place, change.made)
    assert isinstance(made, ast.Module)
    if change.below:
        _announce(made, {change: f"{CAME}()"})
    return ast.fix_missing_locations(made)


def announcing_tree(source: str, changes: Sequence[Change]) -> ast.Module:
    """Return the module's tree as it is, in which ``CAME`` is called with the digest of each change that is come to."""
    tree = ast.parse(source)
    _announce(tree, {each: f"{CAME}({each.digest!r})" for each in changes if each.below})
    return ast.fix_missing_locations(tree)


def _announce(tree: ast.Module, calls: Mapping[Change, str]) -> None:
    """Put the call of each change where it is come to; all places are those of ``tree`` as it comes."""
    lambdas: list[tuple[ast.Lambda, ast.expr]] = []
    statements: list[tuple[list[ast.stmt], ast.stmt, ast.expr]] = []
    for change, text in calls.items():
        told = ast.parse(text, mode="eval").body
        inner = range(len(change.place) - 1, change.outer - 1, -1)
        above = ((_at(tree, change.place[:at]), change.place[at][0]) for at in inner)
        if held := next((node for node, field in above if isinstance(node, ast.Lambda) and field == "body"), None):
            lambdas.append((held, told))
            continue
        name, index = change.place[change.outer - 1]
        assert index is not None  # where a statement is
        block = getattr(_at(tree, change.place[: change.outer - 1]), name)
        statements.append((block, block[index], told))
    for held, told in lambdas:
        held.body = ast.IfExp(told, held.body, held.body)
    for block, statement, told in statements:
        block.insert(next(at for at, each in enumerate(block) if each is statement), ast.Expr(told))


def _places(tree: ast.Module, *, c_text: bool) -> Iterator[tuple[Place, ast.AST, Place, str]]:
    """Yield each node that may change, with the way to it, the way to its statement, and the function it is in."""
    casts = casts_in(tree)
    waiting: list[tuple[Place, ast.AST, Place, str]] = [((), tree, (), "")]
    while waiting:
        place, node, statement, function = waiting.pop()
        if isinstance(node, ast.stmt):
            statement = place
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}".strip(".")
            if node.name in TELLING:
                continue
        if place and not _is_docstring(node):
            yield place, node, statement, function
        children: list[tuple[Place, ast.AST, Place, str]] = []
        for name, value in ast.iter_fields(node):
            if name in SKIPPED or (isinstance(node, ast.Raise | ast.Import | ast.ImportFrom)):
                continue
            if (isinstance(node, ast.If) and _is_for_types(node)) or (
                isinstance(node, ast.Assign) and _is_a_type(node)
            ):
                continue
            listed = value if isinstance(value, list) else [value]
            for at, child in enumerate(listed):
                if not isinstance(child, ast.AST) or untold(child, node, c_text=c_text, casts=casts):
                    continue
                if not _is_docstring(child):
                    index = at if isinstance(value, list) else None
                    children.append(((*place, (name, index)), child, statement, function))
        waiting += reversed(children)


NEAR: Final = 120
"""Characters of a long line that are shown on each side of what changed: a string of C text is one line."""


def _near(gone: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Return lines that are gone and new, of one pair of long ones what is near the change."""
    if len(gone) != 1 or len(new) != 1 or max(len(gone[0]), len(new[0])) < 4 * NEAR:
        return gone, new
    was, now = gone[0], new[0]
    start, end = max(0, _alike(was, now) - NEAR), max(0, _alike(was[::-1], now[::-1]) - NEAR)
    return [was[start : len(was) - end]], [now[start : len(now) - end]]


def _alike(one: str, other: str) -> int:
    """Return with how many of the same characters two texts begin."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _is_a_type(node: ast.AST) -> bool:
    """Return whether a type is given a name, as in ``Rule = Callable[[int], int]`` and ``Traced = Blocks | Token``."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return False
    name = node.targets[0].id
    return name[0].isupper() and not name.isupper() and isinstance(node.value, ast.Subscript | ast.BinOp)


def _at(tree: ast.AST, place: Place) -> ast.AST:
    node: Any = tree
    for name, index in place:
        node = getattr(node, name) if index is None else getattr(node, name)[index]
    assert isinstance(node, ast.AST)
    return node


def _with(tree: ast.AST, place: Place, made: ast.AST) -> ast.AST:
    """Return a copy of ``tree`` in which ``made`` stands at ``place``."""
    if not place:
        return deepcopy(made)
    copied = deepcopy(tree)
    parent = _at(copied, place[:-1])
    name, index = place[-1]
    if index is None:
        setattr(parent, name, deepcopy(made))
    else:
        getattr(parent, name)[index] = deepcopy(made)
    return copied


def _short(node: ast.AST) -> ast.AST:
    """Return a statement without the blocks below it, which are statements of their own."""
    if not hasattr(node, "body") or not isinstance(node.body, list):
        return node
    short = deepcopy(node)
    for name in ("body", "orelse", "finalbody"):
        if getattr(short, name, None):
            setattr(short, name, [ast.Expr(ast.Constant(...))])
    if getattr(short, "handlers", None):
        short.handlers = short.handlers[:1]  # type: ignore[attr-defined]  # asked above
    return short


def _lines(statement: ast.AST, node: ast.AST) -> tuple[int, ...]:
    """Return the lines that show that the change was come to: the node's, or its statement's."""
    one = node if hasattr(node, "lineno") else statement
    first = int(getattr(one, "lineno", getattr(statement, "lineno", 1)))
    last = int(getattr(one, "end_lineno", first) or first)
    if isinstance(node, ast.If | ast.While | ast.For):
        test = node.iter if isinstance(node, ast.For) else node.test
        last = test.end_lineno or first
    begins = int(getattr(statement, "lineno", first))
    return tuple(sorted({begins, *range(first, last + 1)} if isinstance(node, ast.stmt) else {*range(first, last + 1)}))
