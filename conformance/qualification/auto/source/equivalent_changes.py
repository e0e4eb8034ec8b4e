"""Changes of source that cannot change what the code does, by the rules of the language, and what only tells people.

All such mutants would be equivalent, and to find that out takes a minute each.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from typing import Final

CLAUSE: Final = re.compile(r"[a-z_]+\.[A-Z]\d+")
"""The number of a clause. No backend is asked by which of them it refuses a program."""

SENTENCE: Final = re.compile(r"[a-z]{2,}[,:;]? [a-z]{2,}")
"""Words for people, as an error has them."""

MALFORMED: Final = ("CaseError", "ScheduleError")
"""Errors of files that no backend is ever asked about."""

SYMMETRIC: Final = ("min", "max", "gcd", "lcm", "joined", "common", "overlap", "array_equal")
"""Functions of numbers, of sets and of arrays to which it makes no difference which of two comes first: code asks none
of the least and the greatest about a NaN."""

UNORDERED: Final = ("any", "all", "set", "frozenset", "sorted", "min", "max", "gcd", "lcm", "prod")
"""Functions to which the order of what they alone are given makes no difference: products are of whole numbers."""


def idle(
    kind: str, node: ast.AST, made: ast.AST, above: ast.AST, over: ast.AST | None, beyond: ast.AST | None = None
) -> bool:
    """Return whether it changes nothing to have ``made`` for a node, for what those ``above`` it and ``over`` that do.

    ``beyond`` stands above what is ``over`` it.

    They are the order of what is only counted in, of errors that are caught alike, of what a digest is made of, and of
    the numbers of clauses, an argument that is the number of a clause exchanged for another text, which of two comes
    first where a function is symmetric, no equality asked beforehand that is quicker, no assertion that two have as
    many elements or that nobody assigns to a value, which are never false of what is right, how many digits of a digest
    are a name, and no refusal of what is malformed.
    A loop that only looks for one of which it says something may look in any order. Nor does it make a difference what
    NumPy warns of, and which negative number stands for the extent that a reshape leaves.
    """
    if isinstance(node, ast.Raise):
        return _malformed(node)
    if kind == "constant" and isinstance(above, ast.keyword):
        asserted = (_zip(over) and above.arg == "strict") or (isinstance(over, ast.ClassDef) and above.arg == "frozen")
        return asserted and isinstance(node, ast.Constant) and node.value is True
    if _digits(node) or (isinstance(above, ast.Slice) and over is not None and _digits(over)):
        return kind in ("constant", "bound", "dropped slice")
    if kind == "swapped arguments" and isinstance(node, ast.Call) and isinstance(made, ast.Call):
        if _called(node) in SYMMETRIC and len(node.args) == 2 and not node.keywords:
            return True
        pairs = zip(node.args, made.args, strict=True)
        moved = [
            one.value for one, other in pairs if isinstance(one, ast.Constant) and ast.dump(one) != ast.dump(other)
        ]
        texts = [each for each in moved if isinstance(each, str)]
        return len(texts) == 2 and any(map(CLAUSE.fullmatch, texts))
    anyhow = (kind == "order" and _in_any_order(node, above, over, beyond)) or _only_faster(node, made)
    return anyhow or (kind == "dropped argument" and _attribute(node, "errstate")) or _left_extent(made, above, over)


def _only_faster(node: ast.AST, made: ast.AST) -> bool:
    """Return whether ``a == b or f(a) == f(b)``, or ``a != b and f(a) != f(b)``, no longer asks the first."""
    if not isinstance(node, ast.BoolOp) or len(node.values) != 2 or made is not node.values[1]:
        return False
    sign = ast.Eq if isinstance(node.op, ast.Or) else ast.NotEq
    sides = [each for each in node.values if isinstance(each, ast.Compare) and len(each.ops) == 1]
    if len(sides) != 2 or not all(isinstance(each.ops[0], sign) for each in sides):
        return False
    (one, other), (first, second) = ([ast.unparse(side) for side in (each.left, *each.comparators)] for each in sides)
    return one.isidentifier() and re.sub(rf"(?<![.\w]){one}\b", other, first) == second


def _called(node: ast.Call) -> str:
    """Return the name of a function or method that is called; no word for another."""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _attribute(node: ast.AST | None, name: str) -> bool:
    """Return whether a node calls an attribute of that name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name


def _left_extent(made: ast.AST, above: ast.AST, over: ast.AST | None) -> bool:
    minus = isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.USub)
    return minus and _attribute(over, "reshape") and isinstance(made, ast.Constant) and bool(made.value)


def _malformed(node: ast.Raise) -> bool:
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id in MALFORMED


def _digits(node: ast.AST) -> bool:
    """Return whether a node is the first digits of a digest."""
    made = node.value.func if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call) else None
    return isinstance(made, ast.Attribute) and made.attr == "hexdigest"


def _digested(node: ast.AST | None) -> bool:
    """Return whether a digest is made of something."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sha256"


def _in_any_order(node: ast.AST, above: ast.AST, over: ast.AST | None, beyond: ast.AST | None) -> bool:
    if isinstance(node, ast.For):
        return _only_looks(node, above)
    if isinstance(node, ast.comprehension):
        in_set = isinstance(over, ast.Starred) and isinstance(beyond, ast.Set)
        return isinstance(above, ast.SetComp) or (isinstance(above, ast.GeneratorExp) and (in_set or _unordered(over)))
    if isinstance(node, ast.Tuple | ast.List):
        if isinstance(above, ast.ExceptHandler) or _unordered(above):
            return True
        if isinstance(above, ast.comprehension) and above.iter is node:
            return isinstance(over, ast.SetComp) or (isinstance(over, ast.GeneratorExp) and _unordered(beyond))
        asked = above.comparators[-1] if isinstance(above, ast.Compare) else None
        inside = isinstance(above, ast.Compare) and isinstance(above.ops[-1], ast.In | ast.NotIn)
        return (inside and node is asked) or _digested(over) or all(map(_clause, node.elts))
    return False


def untold(node: ast.AST, above: ast.AST, *, c_text: bool, casts: Collection[str]) -> bool:
    """Return whether nothing in a node says what the code does: a sentence, which clause it is, or a type.

    ``casts`` are the names that ``typing.cast`` has in the module; its first argument is a type. Where strings hold
    ``c_text`` none of them is a sentence.
    """
    if isinstance(node, ast.IfExp):
        return _clause(node.body) and _clause(node.orelse)
    if isinstance(node, ast.JoinedStr) and not c_text:
        texts = [each.value for each in node.values if isinstance(each, ast.Constant)]
        return any(SENTENCE.search(text) for text in texts if isinstance(text, str))
    called = above.func if isinstance(above, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in casts and node is above.args[0]  # type: ignore[attr-defined]  # a call, as asked above


def casts_in(tree: ast.AST) -> frozenset[str]:
    """Return the names by which a module calls ``typing.cast``."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "typing"]
    return frozenset(name.asname or name.name for node in imports for name in node.names if name.name == "cast")


def _clause(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(CLAUSE.fullmatch(node.value))


def _zip(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip"


def _unordered(node: ast.AST | None) -> bool:
    if not isinstance(node, ast.Call) or len(node.args) != 1 or any(each.arg == "key" for each in node.keywords):
        return False
    return _called(node) in UNORDERED


def _only_looks(loop: ast.For, above: ast.AST) -> bool:
    """Return whether a loop looks for one that is so, and says of any of them the same, or a sentence.

    It begins anew with each, and leaves nothing behind for what comes after it.
    """
    if not isinstance(above, ast.FunctionDef) or loop.orelse:
        return False
    inside = [inner for statement in loop.body for inner in ast.walk(statement)]
    other = (ast.NamedExpr, ast.Yield, ast.YieldFrom)
    if any(isinstance(each, other) or (isinstance(each, ast.stmt) and not isinstance(each, LOOKS)) for each in inside):
        return False
    if any(_attribute(each, name) for each in inside for name in CHANGING) or not _anew(loop, above):
        return False
    returned = [each.value for each in inside if isinstance(each, ast.Return)]
    said = {_said(each) for each in returned}
    return len(said) == 1 and "" not in said


def _anew(loop: ast.For, function: ast.FunctionDef) -> bool:
    """Return whether what a loop assigns is assigned once, and read behind that in the same block alone."""
    inner = [each for each in ast.walk(loop) if isinstance(each, ast.For | ast.If)]
    blocks = [block for each in inner for block in (each.body, each.orelse)]
    for block in blocks:
        for at, each in enumerate(block):
            if not isinstance(each, ast.Assign | ast.For):
                continue
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            behind = block[at + 1 :] if isinstance(each, ast.Assign) else each.body
            names = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
            own = {id(inner) for part in (*targets, *behind) for inner in ast.walk(part)}
            used = [name for name in ast.walk(function) if isinstance(name, ast.Name) and name.id in names]
            stored = [name for name in used if not isinstance(name.ctx, ast.Load)]
            if len(stored) != len(names) or any(id(name) not in own for name in used):
                return False
    return True


CHANGING: Final = ("setdefault", "append", "extend", "add", "update", "pop", "remove", "discard")
"""Methods that leave something behind."""

LOOKS: Final = (ast.If, ast.For, ast.Assign, ast.Continue, ast.Pass, ast.Return)
"""Statements of a loop that looks for something."""


def _said(node: ast.AST | None) -> str:
    """Return a constant as text, one word for all sentences, and no word for what is made of more."""
    return "a sentence" if _sentence(node) else ast.dump(node) if isinstance(node, ast.Constant) else ""


def _sentence(node: ast.AST | None) -> bool:
    if not isinstance(node, ast.JoinedStr):
        return False
    texts = [each.value for each in node.values if isinstance(each, ast.Constant)]
    return any(SENTENCE.search(text) for text in texts if isinstance(text, str))
