"""Steps that compute on each rank alone, in the words of NumPy, JAX or Torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from conformance.cases.case import Case
from conformance.cases.program.computing_words import dtypes
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import kind
from conformance.reproduce.source_text import literal

System = Literal["np", "jnp", "torch"]

_ALIKE: Final = {
    "neg": "negative", "not": "bitwise_not", "abs": "abs", "recip": "reciprocal", "sqrt": "sqrt", "exp2": "exp2",
    "log2": "log2", "sin": "sin", "trunc": "trunc", "add": "add", "sub": "subtract", "mul": "multiply", "mod": "fmod",
    "max": "maximum", "min": "minimum", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "shl": "left_shift", "shr": "right_shift", "lt": "less", "ne": "not_equal", "eq": "equal", "where": "where",
    "div": "divide",
}  # fmt: skip
"""What NumPy, JAX and Torch call elementwise operations, but for those of ``_OF_TORCH``."""

_OF_TORCH: Final = {
    "shl": "bitwise_left_shift", "shr": "bitwise_right_shift", "lt": "lt", "ne": "ne", "eq": "eq",
}  # fmt: skip

_FOLDS: Final = {
    "add": "sum", "mul": "prod", "max": "max", "min": "min", "and": "bitwise_and.reduce", "or": "bitwise_or.reduce",
    "xor": "bitwise_xor.reduce",
}  # fmt: skip
_FOLDS_OF_TORCH: Final = {**_FOLDS, "max": "amax", "min": "amin"}


def computing_line(step: Step, operands: Sequence[str], result: str, system: System, *, whole: bool) -> str:
    """Return the line of a step; ``whole`` says whether its operands are of integers or bools."""
    made = {"alu": _alu, "cast": _cast, "fold": _fold, "dot": _dot}[step.op]
    return f"{result} = {made(step, list(operands), system, whole)}"


def of_integers(case: Case, step: Step) -> bool:
    """Return whether the operands of a step are of integers or bools, as far as the program tells."""
    return all(kind(each) in ("bool", "integer") for each in dtypes(case)[step.inputs[-1]])


def dtype(name: object, system: System) -> str:
    """Return a dtype in the words of a system."""
    return f"torch.{name}" if system == "torch" else f"{system}.dtype({literal(name)})"


def converted(value: str, name: object, system: System) -> str:
    """Return a value in another dtype."""
    return f"{value}.{'to' if system == 'torch' else 'astype'}({dtype(name, system)})"


def _alu(step: Step, operands: list[str], system: System, whole: bool) -> str:
    op = str(step.attrs["op"])
    if op == "div" and whole:
        left, right = operands
        if system == "torch":
            return f'torch.div({left}, {right}, rounding_mode="trunc")'
        return f"lax.div({left}, {right})" if system == "jnp" else f"({left} - np.fmod({left}, {right})) // {right}"
    name = _OF_TORCH.get(op, _ALIKE[op]) if system == "torch" else _ALIKE[op]
    return f"{system}.{name}({', '.join(operands)})"


def _cast(step: Step, operands: list[str], system: System, whole: bool) -> str:
    del whole
    if system == "jnp":
        return f"lax.convert_element_type({operands[0]}, {dtype(step.attrs['to'], system)})"
    return converted(operands[0], step.attrs["to"], system)


def _fold(step: Step, operands: list[str], system: System, whole: bool) -> str:
    del whole
    op, (taken,) = str(step.attrs["op"]), operands
    listed: Sequence[int] = step.attrs["axes"]  # type: ignore[assignment]  # by ``names``
    if system == "torch" and not listed:
        return f"{taken}.clone()"
    axes, acc = literal(tuple(step.attrs["axes"])), step.attrs.get("acc")  # type: ignore[arg-type]  # by ``names``
    own = f"{taken}.dtype"
    if acc:
        taken = converted(taken, acc, system)
    wide = dtype(acc, system) if acc else own
    if system == "torch" and op == "mul":
        call = taken
        for axis in sorted(listed, reverse=True):
            call = f"torch.prod({call}, {axis}, dtype={wide})"
    elif op in ("add", "mul"):
        function = "torch.sum" if system == "torch" and op == "add" else f"{system}.{_FOLDS[op]}"
        call = f"{function}({taken}, {axes}, dtype={wide})"
    else:
        names = _FOLDS_OF_TORCH if system == "torch" else _FOLDS
        call = f"{system}.{names[op]}({taken}, {axes})"
    return f"{call}.{'to' if system == 'torch' else 'astype'}({own})"


def _dot(step: Step, operands: list[str], system: System, whole: bool) -> str:
    del whole
    (left, right), acc = operands, step.attrs.get("acc")
    own = f"{left}.dtype"
    if system == "jnp":
        wide = dtype(acc, system) if acc else own
        dimensions = f"((({left}.ndim - 1,), (0,)), ((), ()))"
        call = f"lax.dot_general({left}, {right}, {dimensions}, preferred_element_type={wide})"
        return f"{call}.astype({own})"
    sides = [converted(each, acc, system) if acc else each for each in (left, right)]
    if system == "torch":
        return f"torch.tensordot({sides[0]}, {sides[1]}, dims=1).to({own})"
    wide = f"{sides[0]}.reshape(*{left}.shape, *(1,) * ({right}.ndim - 1))"
    return f"np.add.reduce({wide} * {sides[1]}, axis={left}.ndim - 1).astype({own})"
