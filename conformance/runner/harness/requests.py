"""What a harness is asked: cases within its claims, of several sizes, as lines of the protocol."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from conformance.backends.base import Claims
from conformance.backends.protocol import INLINE, tensor_bytes
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import Tensor
from conformance.runner.dialects import trial
from conformance.runner.smoke import smoke_cases

LARGE: Final = 4 * INLINE
"""Bytes of a case that travels as a file."""

SHOWN: Final = 3
"""Operations that are asked in each check: the protocol is one for all."""


@dataclass(frozen=True)
class HarnessCases:
    """Cases within the claims: plain ones, one that fills a line, and one that needs a file; and an illegal one."""

    plain: tuple[Case, ...]
    wide: Case | None
    large: Case | None
    illegal: Case


def asked(claims: Claims) -> HarnessCases | None:
    """Return what a harness with these claims is asked; ``None`` where no plain case is within them."""
    plain = tuple(_plain(claims))
    if not plain:
        return None
    wide = next((one for case in plain for one in _grown(case, INLINE, claims)), None)
    large = next((one for case in plain for one in _grown(case, LARGE, claims)), None)
    return HarnessCases(plain[:SHOWN], wide, large, _illegal(plain[0]))


def within(case: Case, claims: Claims) -> bool:
    """Return whether a case is legal and within claims."""
    one = trial(case)
    return one is not None and one.facts.legal and one.outside(claims) is None


def respelt(line: bytes) -> bytes:
    """Return the same request in other words: keys in another order, spaces, and names as escapes."""
    text = json.dumps(_reversed(json.loads(line)), separators=(" , ", " : "), ensure_ascii=True)
    for name in ("seq", "program", "blocks", "dtype"):
        text = text.replace(f'"{name}"', '"' + "".join(f"\\u{ord(letter):04x}" for letter in name) + '"')
    return text.encode() + b"\r\n"


def _plain(claims: Claims) -> Iterator[Case]:
    seen = set()
    for case in smoke_cases():
        op = case.program.steps[0].op
        if op not in seen and case.inputs and within(case, claims):
            seen.add(op)
            yield case


def _grown(case: Case, most: int, claims: Claims) -> Iterator[Case]:
    """Yield the case with its blocks repeated along their first axis, as long as it has at most ``most`` bytes."""
    held = tensor_bytes(block for operand in case.inputs.values() for block in operand.blocks)
    factor = most // max(held, 1)
    while factor > 1:
        inputs = {name: _times(operand, factor) for name, operand in case.inputs.items()}
        made = msgspec.structs.replace(case, inputs=inputs)
        if all(operand.blocks[0].shape for operand in case.inputs.values()) and within(made, claims):
            yield made
        factor -= max(1, factor // 64)
        if factor * held < most * 3 // 4:
            return


def _times(operand: Operand, factor: int) -> Operand:
    blocks = tuple(
        Tensor(dtype=block.dtype, shape=(block.shape[0] * factor, *block.shape[1:]), bits=block.bits * factor)
        if block.shape
        else block
        for block in operand.blocks
    )
    return Operand(blocks=blocks, layouts=operand.layouts)


def _illegal(case: Case) -> Case:
    """Return the case over an axis that the mesh has not."""
    steps: tuple[Step, ...] = tuple(msgspec.structs.replace(step, axes=("nowhere",)) for step in case.program.steps)
    return msgspec.structs.replace(case, program=msgspec.structs.replace(case.program, steps=steps))


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reversed(value[name]) for name in reversed(value)}
    return [_reversed(each) for each in value] if isinstance(value, list) else value


def block_bytes(block: Tensor) -> int:
    """Return the bytes that a block of this dtype and shape has."""
    return math.prod(block.shape) * NUMPY[block.dtype].itemsize
