"""What may be changed in an expression or a statement: each change is small, and such as people make by mistake."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from copy import copy
from typing import Final, TypeVar

Replacements = Iterator[tuple[str, ast.AST]]
"""The kind of change, and what stands in the place of the node."""

COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}

ARITHMETIC: Final[dict[type[ast.operator], tuple[type[ast.operator], ...]]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult,),
    ast.Div: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}

NAMES: Final = {
    "min": ("max",), "max": ("min",), "any": ("all",), "all": ("any",), "add": ("subtract",), "multiply": ("add",),
    "divide": ("multiply",), "maximum": ("minimum",), "minimum": ("maximum",), "concatenate": ("stack",),
    "stack": ("concatenate",), "zeros": ("ones",), "bitwise_and": ("bitwise_or",), "bitwise_or": ("bitwise_xor",),
    "bitwise_xor": ("bitwise_and",), "float64": ("float32",), "float32": ("float16", "float64"), "int32": ("int64",),
    "int64": ("int32",), "uint8": ("int8",), "uint32": ("int32",), "start": ("stop",), "stop": ("start",),
    "first": ("last",), "last": ("first",), "inputs": ("outputs",), "outputs": ("inputs",),
    "append": ("extend",), "source": ("destination",), "destination": ("source",),
}  # fmt: skip
"""Names that stand for each other in mistakes: functions, dtypes and ends of ranges."""

WORDS: Final = {
    "float64": ("float32",), "float32": ("float64", "bfloat16"), "int32": ("int64",), "int64": ("int32",),
    "bool": ("int32",), "integer": ("float",), "float": ("integer",), "complex": ("float",), "sum": ("max",),
    "mean": ("sum",), "max": ("min",), "min": ("max",), "product": ("sum",), "and": ("or",), "or": ("xor",),
    "xor": ("and",), "premul_sum": ("sum",), "add": ("mul",), "mul": ("add",),
}  # fmt: skip
"""Strings that are words of the vocabulary."""

IN_C: Final = (
    (r"(?<=[\w)\]]) \+ (?=[\w(])", (" - ",)),
    (r"(?<=[\w)\]]) - (?=[\w(])", (" + ",)),
    (r"(?<=[\w)\]}]) \* (?=[\w({])", (" + ",)),
    (r" << ", (" >> ",)),
    (r" >> ", (" << ",)),
    (r" < ", (" <= ", " > ")),
    (r" > ", (" >= ", " < ")),
    (r" <= ", (" < ",)),
    (r" >= ", (" > ",)),
    (r" == ", (" != ",)),
    (r" != ", (" == ",)),
    (r" && ", (" || ",)),
    (r" \|\| ", (" && ",)),
    (r" % ", (" / ",)),
    (r" \+= ", (" -= ", " = ")),
    (r"\+\+(?=\w)", ("--",)),
    (r"\b(\d+)(?=[;)\]u,: ])", ("+1", "-1")),
    (r"\bconvert_\w+_rtz\b", ("(float)",)),
    (r"\bulong\b", ("uint",)),
    (r"\blong\b", ("int",)),
    (r"\bdouble\b", ("float",)),
    (r"\bbreak; ", ("",)),
    (r"\.x\b", (".y",)),
    (r"\.y\b", (".x",)),
)
"""Changes of OpenCL C text: what is found, and what stands there instead (numbers: one more, one less)."""


N = TypeVar("N", bound=ast.AST)


def changes_of(node: ast.AST, *, c_text: bool = False) -> Replacements:
    """Yield every change of one node; the node itself stays as it is. ``c_text`` also changes strings that hold C."""
    for known, change in _BY_TYPE:
        if isinstance(node, known):
            yield from change(node)
    if c_text and isinstance(node, ast.Constant) and isinstance(node.value, str):
        for kind, text in _c_changes(node.value):
            yield kind, ast.Constant(text)


def _like(node: N) -> N:
    """Return a node with the same parts, in lists of its own: copying the parts too took half of all listing's time."""
    made = copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(made, name, list(value))
    return made


def _compare(node: ast.Compare) -> Replacements:
    for at, one in enumerate(node.ops):
        for other in COMPARISONS.get(type(one), ()):
            made = _like(node)
            made.ops[at] = other()
            yield "comparison", made


def _binary(node: ast.BinOp) -> Replacements:
    for other in ARITHMETIC.get(type(node.op), ()):
        yield "operator", ast.BinOp(node.left, other(), node.right)
    yield "dropped term", node.left
    yield "dropped term", node.right
    if isinstance(node.op, ast.Add | ast.Mult):
        again = ast.BinOp(node, type(node.op)(), node.right)
        yield "doubled term", again
    if isinstance(node.op, ast.Sub | ast.FloorDiv | ast.Mod | ast.Div):
        yield "swapped operands", ast.BinOp(node.right, node.op, node.left)


def _boolean(node: ast.BoolOp) -> Replacements:
    yield "condition", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for at in range(len(node.values)):
        rest = [value for other, value in enumerate(node.values) if other != at]
        yield "dropped condition", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _unary(node: ast.UnaryOp) -> Replacements:
    if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield "dropped operator", node.operand


def _constant(node: ast.Constant) -> Replacements:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        yield "constant", ast.Constant(value + 1)
        yield "constant", ast.Constant(value - 1)
    elif isinstance(value, float):
        yield "constant", ast.Constant(value * 2 if value else 1.0)
    elif isinstance(value, str):
        for other in WORDS.get(value, ()):
            yield "word", ast.Constant(other)


def _subscript(node: ast.Subscript) -> Replacements:
    if not isinstance(node.ctx, ast.Load):
        return
    part = node.slice
    if isinstance(part, ast.Slice):
        yield "dropped slice", node.value
        for name in ("lower", "upper"):
            bound = getattr(part, name)
            if bound is not None:
                for sign in (ast.Add(), ast.Sub()):
                    made = _like(node)
                    made.slice = _like(part)
                    setattr(made.slice, name, ast.BinOp(bound, sign, ast.Constant(1)))
                    yield "bound", made
    elif not isinstance(part, ast.Tuple | ast.Constant):
        made = _like(node)
        made.slice = ast.BinOp(part, ast.Sub(), ast.Constant(1))
        yield "index", made


def _call(node: ast.Call) -> Replacements:
    plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    if len(plain) == len(node.args) >= 2:
        for at in range(len(node.args) - 1):
            made = _like(node)
            made.args[at], made.args[at + 1] = made.args[at + 1], made.args[at]
            yield "swapped arguments", made
    name = node.func.id if isinstance(node.func, ast.Name) else None
    for at, keyword in enumerate(node.keywords):
        # That two have as many elements is an assertion: it is never false of what is right.
        if keyword.arg is not None and (name, keyword.arg) != ("zip", "strict"):
            made = _like(node)
            del made.keywords[at]
            yield "dropped argument", made
    if name == "range" and node.args:
        made = _like(node)
        at = 0 if len(node.args) == 1 else 1
        made.args[at] = ast.BinOp(made.args[at], ast.Sub(), ast.Constant(1))
        yield "bound", made
        if len(node.args) == 1:
            made = _like(node)
            made.args.insert(0, ast.Constant(1))
            yield "bound", made
    if name in ("sorted", "reversed", "abs") and len(node.args) == 1:
        yield "dropped call", ast.Call(ast.Name("list", ast.Load()), [node.args[0]], [])
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("copy", "astype", "view", "reshape", "transpose"):
        yield "dropped call", node.func.value


def _name(node: ast.Name) -> Replacements:
    if isinstance(node.ctx, ast.Load):
        for other in NAMES.get(node.id, ()):
            yield "name", ast.Name(other, ast.Load())


def _attribute(node: ast.Attribute) -> Replacements:
    if isinstance(node.ctx, ast.Load):
        for other in NAMES.get(node.attr, ()):
            yield "name", ast.Attribute(node.value, other, ast.Load())


def _choice(node: ast.IfExp) -> Replacements:
    yield "condition", ast.IfExp(node.test, node.orelse, node.body)
    yield "condition", node.body
    yield "condition", node.orelse


def _pair(node: ast.Tuple | ast.List) -> Replacements:
    if isinstance(node.ctx, ast.Load) and len(node.elts) >= 2:
        made = _like(node)
        made.elts.reverse()
        yield "order", made
        if len(node.elts) > 2:
            made = _like(node)
            del made.elts[-1]
            yield "dropped term", made


def _loop(node: ast.comprehension) -> Replacements:
    for at in range(len(node.ifs)):
        made = _like(node)
        del made.ifs[at]
        yield "dropped condition", made
    for kind, over in _walked(node.iter):
        made = _like(node)
        made.iter = over
        yield kind, made


def _walked(over: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    whole = ast.Call(ast.Name("list", ast.Load()), [over], [])
    yield "order", ast.Subscript(whole, ast.Slice(step=ast.UnaryOp(ast.USub(), ast.Constant(1))), ast.Load())
    yield "dropped term", ast.Subscript(whole, ast.Slice(lower=ast.Constant(1)), ast.Load())
    last = ast.UnaryOp(ast.USub(), ast.Constant(1))
    yield "dropped term", ast.Subscript(whole, ast.Slice(upper=last), ast.Load())


def _if(node: ast.If) -> Replacements:
    for kind, test in (
        ("condition", ast.UnaryOp(ast.Not(), node.test)),
        ("condition", ast.Constant(value=True)),
        ("condition", ast.Constant(value=False)),
    ):
        made = _like(node)
        made.test = test
        yield kind, made


def _while(node: ast.While) -> Replacements:
    made = _like(node)
    made.test = ast.Constant(value=False)
    yield "condition", made


def _for(node: ast.For) -> Replacements:
    for kind, over in _walked(node.iter):
        made = _like(node)
        made.iter = over
        yield kind, made


def _statement(node: ast.stmt) -> Replacements:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "dropped statement", ast.Pass()
    elif isinstance(node, ast.AugAssign):
        yield "dropped statement", ast.Pass()
        yield "assignment", ast.Assign([node.target], node.value, lineno=node.lineno)
        for other in ARITHMETIC.get(type(node.op), ()):
            yield "operator", ast.AugAssign(node.target, other(), node.value)
    elif isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple):
        yield "dropped statement", ast.Pass()
    elif isinstance(node, ast.Raise):
        yield "dropped refusal", ast.Pass()
    elif isinstance(node, ast.Continue):
        yield "jump", ast.Break()
    elif isinstance(node, ast.Break):
        yield "jump", ast.Continue()


def _c_changes(text: str) -> Iterator[tuple[str, str]]:
    for pattern, others in IN_C:
        for found in re.finditer(pattern, text):
            for other in others:
                word = str(int(found[1]) + int(other)) if found.re.groups else other
                yield "C text", text[: found.start()] + word + text[found.end() :]


_BY_TYPE: Final[tuple[tuple[type | tuple[type, ...], Callable[..., Replacements]], ...]] = (
    (ast.Compare, _compare),
    (ast.BinOp, _binary),
    (ast.BoolOp, _boolean),
    (ast.UnaryOp, _unary),
    (ast.Constant, _constant),
    (ast.Subscript, _subscript),
    (ast.Call, _call),
    (ast.Name, _name),
    (ast.Attribute, _attribute),
    (ast.IfExp, _choice),
    ((ast.Tuple, ast.List), _pair),
    (ast.comprehension, _loop),
    (ast.If, _if),
    (ast.While, _while),
    (ast.For, _for),
    (ast.stmt, _statement),
)
