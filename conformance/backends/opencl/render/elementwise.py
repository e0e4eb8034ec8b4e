"""Elementwise operations and conversions as C expressions on values in storage form, rounded after each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.opencl.formats import FORMATS
from conformance.cases.tensor.dtypes import DTYPES, NUMPY, kind

_NARROW: Final = tuple(name for name, form in FORMATS.items() if form.arithmetic == "float" != form.storage)
"""The floats that are computed as float32."""


def operation(op: str, dtype: str, of: Sequence[str]) -> str:
    """Return an operation on values of ``dtype``; ``where`` takes a bool first. The result is in storage form.

    Raise ``ValueError`` for an operation that there is not.
    """
    if op == "where":
        return f"({of[0]} ? {of[1]} : {of[2]})"
    if op in ("lt", "eq", "ne"):
        return _compared(op, dtype, of)
    family = kind(dtype)
    if family == "bool":
        return _logical(op, of)
    if family == "integer":
        return _integer(op, dtype, of)
    if family == "complex":
        return _complex(op, dtype, of)
    return _float(op, dtype, of)


def _form(name: str, dtype: str, value: str) -> str:
    pattern: str = getattr(FORMATS[dtype], name)
    return pattern.format(x=value)


def _compared(op: str, dtype: str, of: Sequence[str]) -> str:
    a, b = (_form("order", dtype, each) for each in of)
    if kind(dtype) == "complex":
        same = f"({a}.x == {b}.x && {a}.y == {b}.y)"
        return f"(uchar)({same if op == 'eq' else f'!{same}'})"
    sign = {"lt": "<", "eq": "==", "ne": "!="}[op]
    return f"(uchar)({a} {sign} {b})"


def _logical(op: str, of: Sequence[str]) -> str:
    a = [_form("order", "bool", each) for each in of]
    signs = {"add": "|", "or": "|", "max": "|", "mul": "&", "and": "&", "min": "&", "xor": "^"}
    if op == "not":
        return f"(uchar)(!{a[0]})"
    if op not in signs:
        raise ValueError(f"no {op} of bool")
    return f"(uchar)({a[0]} {signs[op]} {a[1]})"


def _integer(op: str, dtype: str, of: Sequence[str]) -> str:
    wide = [_form("widen", dtype, each) for each in of]
    own = [_form("order", dtype, each) for each in of]
    signs = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
    signed = not dtype.startswith("u")
    if op in signs:
        found = f"({wide[0]} {signs[op]} {wide[1]})"
    elif op in ("max", "min"):
        return f"({own[0]} {'>' if op == 'max' else '<'} {own[1]} ? {of[0]} : {of[1]})"
    elif op in ("neg", "not"):
        found = f"(0 - {wide[0]})" if op == "neg" else f"(~{wide[0]})"
    elif op == "abs":
        found = f"({own[0]} < 0 ? 0 - {wide[0]} : {wide[0]})" if signed else wide[0]
    elif op in ("shl", "shr"):
        found = _shifted(op, dtype, wide, own)
    else:
        found = _divided(op, dtype, own)
    return _form("round", dtype, found)


def _divided(op: str, dtype: str, own: Sequence[str]) -> str:
    """Return a quotient or a remainder: by zero there is no right answer, and by -1 one that may not fit."""
    if op not in ("div", "mod"):
        raise ValueError(f"no {op} of {dtype}")
    signed = not dtype.startswith("u")
    a, b = (f"((long){each})" for each in own) if signed else own
    zero = a if op == "div" else "0"
    minus = f"{b} == -1 ? {'(long)(0 - (ulong)' + a + ')' if op == 'div' else '0'} : " if signed else ""
    return f"(({FORMATS[dtype].arithmetic})({b} == 0 ? {zero} : {minus}{a} {'/' if op == 'div' else '%'} {b}))"


def _shifted(op: str, dtype: str, wide: Sequence[str], own: Sequence[str]) -> str:
    bits = DTYPES[dtype].bits
    by = f"((ulong){own[1]})"
    if op == "shl":
        return f"({by} >= {bits} ? 0 : {wide[0]} << {by})"
    beyond = "0" if dtype.startswith("u") else f"({own[0]} < 0 ? -1 : 0)"
    return f"(({FORMATS[dtype].arithmetic})({by} >= {bits} ? {beyond} : {own[0]} >> {by}))"


def _float(op: str, dtype: str, of: Sequence[str]) -> str:
    form = FORMATS[dtype]
    real = form.arithmetic
    wide = [_form("widen", dtype, each) for each in of]
    signs = {"add": "+", "sub": "-", "mul": "*"}
    functions = {"abs": "fabs", "trunc": "trunc", "mod": "fmod", "neg": "-"} | {
        each: f"{name}_{real}"
        for each, name in (("sqrt", "root"), ("exp2", "power"), ("log2", "logarithm"), ("sin", "sine"))
    }
    if op in ("max", "min"):
        wins = (form.greater if op == "max" else form.less).format(a=wide[0], b=wide[1])
        return f"(({wins}) || {form.unordered.format(a=wide[0])} ? {of[0]} : {of[1]})"
    if op in signs:
        found = f"({wide[0]} {signs[op]} {wide[1]})"
    elif op in ("div", "recip"):
        a, b = (f"(({real})1)", wide[0]) if op == "recip" else wide
        quotient = "({a} / {b})" if dtype == "float64" else "odd((double){a} / (double){b})"
        found = ("quotient_float({a}, {b})" if dtype == "float32" else quotient).format(a=a, b=b)
    elif op in functions:
        found = f"({functions[op]}({', '.join(wide)}))"
    else:
        raise ValueError(f"no {op} of {dtype}")
    return _form("round", dtype, found)


def _complex(op: str, dtype: str, of: Sequence[str]) -> str:
    form = FORMATS[dtype]
    if op in ("add", "sub"):
        return f"({of[0]} {'+' if op == 'add' else '-'} {of[1]})"
    if op == "mul":
        return form.multiply.format(a=of[0], b=of[1])
    if op == "neg":
        return f"(-{of[0]})"
    if op in ("div", "recip"):
        one = f"(({form.storage})(1, 0))"
        a, b = (one, of[0]) if op == "recip" else of
        return f"ratio_{form.storage}({a}, {b})"
    raise ValueError(f"no {op} of {dtype}")


def conversion(value: str, source: str, target: str) -> str:
    """Return a value in another dtype, both in storage form; of a complex number a real dtype keeps the real part."""
    if source == target:
        return value
    if "complex" in (kind(source), kind(target)):
        return _between_complex(value, source, target)
    storage, plain = FORMATS[target].storage, _form("order", source, value)
    if target == "bool":
        found = f"(uchar)({plain} != 0)"
    elif kind(target) == "integer":
        if kind(source) == "float":
            plain = f"(({'ulong' if target == 'uint64' else 'long'}){plain})"
        found = _form("round", target, plain) if DTYPES[target].bits < 8 else f"(({storage}){plain})"
    elif target in _NARROW:
        exact = source in (*_NARROW, "float32") or (kind(source) != "float" and NUMPY[source].itemsize <= 2)
        found = _form("round", target, f"((float){plain})" if exact else f"odd((double){plain})")
    else:
        found = f"(({storage}){plain})"
    return found


def _between_complex(value: str, source: str, target: str) -> str:
    storage = FORMATS[target].storage
    if target == "bool":
        return f"(uchar)({value}.x != 0 || {value}.y != 0)"
    if kind(source) == kind(target):
        return f"convert_{storage}({value})"
    if kind(source) == "complex":
        return conversion(f"{value}.x", "float32" if source == "complex64" else "float64", target)
    part = conversion(value, source, "float32" if target == "complex64" else "float64")
    return f"(({storage})({part}, 0))"


def literal(bits: bytes, dtype: str) -> str:
    """Return one element of exactly these bits."""
    if kind(dtype) == "complex":
        half = len(bits) // 2
        real = "float32" if half == 4 else "float64"
        return f"(({FORMATS[dtype].storage})({literal(bits[:half], real)}, {literal(bits[half:], real)}))"
    number = int.from_bytes(bits, "little")
    if dtype == "float32":
        return f"as_float({number:#x}u)"
    if dtype == "float64":
        return f"as_double({number:#x}ul)"
    return f"(({FORMATS[dtype].storage}){number:#x}{'ul' if len(bits) == 8 else 'u'})"
