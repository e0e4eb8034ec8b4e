"""What each collective of a case meets, as words: conditions of mutants are conjunctions of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.case import Case
from conformance.cases.program.effects import Named, names
from conformance.cases.program.features import LONG, group_words
from conformance.cases.program.program import EFFECTS, Groups, Step, lines, rank_groups
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.cases.tensor.tensor import to_array
from conformance.reference.rejected import Rejected
from conformance.reference.spmd import ATTRIBUTES, evaluate

Words = frozenset[str]

KINDS: Final = {
    "reducing": ("all_reduce", "reduce", "reduce_scatter", "arg_reduce"),
    "gathering": ("all_gather", "gather"),
    "exchanging": ("all_to_all", "all_to_all_uneven", "ragged_all_to_all"),
    "sending": ("permute", "shuffle", "send", "recv"),
    "parting": ("broadcast", "scatter"),
    "telling": ("axis_index", "axis_size", "reduce_constant", "barrier"),
}
"""Operations that move data alike."""

KIND_OF: Final = {op: word for word, ops in KINDS.items() for op in ops}


def facts(case: Case) -> list[tuple[int, Words]]:
    """Return, for each collective that is come to, the number of its step and its words.

    Where ranks go their own ways every collective has those that need no running.
    """
    steps = case.program.steps
    shared = frozenset(_of_case(case))
    if case.troubled:
        blocks = [[to_array(block) for block in operand.blocks] for operand in case.inputs.values()]
        shared |= {_legality(case)}
        return [
            (at, shared | frozenset(_of_step(case, at, blocks[:1], {})))
            for at, step in enumerate(steps)
            if step.op not in EFFECTS
        ]
    table, found = names(case), []
    numbers = {id(step): at for at, step in enumerate(steps)}

    def watch(step: Step, operands: list[Any]) -> None:
        at = numbers[id(step)]
        found.append((at, shared | frozenset(_of_step(case, at, operands, table))))

    try:
        evaluate(case, watch)
    except Rejected:
        return [(at, words | {"legal:no"}) for at, words in found]
    return [(at, words | {"legal:yes"}) for at, words in found]


def _legality(case: Case) -> str:
    """Return whether ranks can go on, those that die and who waits for them aside."""
    try:
        evaluate(case)
    except Rejected:
        return "legal:yes" if case.dying else "legal:no"
    return "legal:yes"


def _of_case(case: Case) -> Iterator[str]:
    program = case.program
    yield f"world:{program.world}"
    yield f"mesh:{len(program.mesh)}"
    yield f"steps:{min(len(program.collectives), 3)}"
    for layout in {layout for operand in case.inputs.values() for layout in operand.layouts}:
        yield f"layout:{layout}"
    yield f"trouble:{'apart' if case.apart else 'none'}"
    for fault in case.faults:
        yield f"trouble:{'dies' if fault.delay is None else 'late'}"


def _of_step(case: Case, at: int, operands: Sequence[Any], table: dict[str, Named]) -> Iterator[str]:
    steps = case.program.steps
    step = steps[at]
    before = [one for one in steps[:at] if one.op not in EFFECTS]
    yield f"op:{step.op}"
    yield f"kind of op:{KIND_OF.get(step.op, step.op)}"
    yield f"position:{min(len(before), 2)}"
    yield f"follows:{_kind(steps[at - 1]) if at else 'nothing'}"
    yield f"operands:{min(len(step.inputs), 2)}"
    yield f"form:{_form(step, table)}"
    yield f"axes:{'none' if not step.axes else 'one' if len(step.axes) == 1 else 'several'}"
    order = [axis.name for axis in case.program.mesh if axis.name in step.axes]
    if len(step.axes) > 1 and tuple(order) != step.axes:
        yield "axes:reordered"
    yield from _of_groups(case, step)
    yield from _of_attributes(step)
    blocks = [block for operand in operands[:1] for block in operand if isinstance(block, np.ndarray)]
    if blocks:
        yield from _of_blocks(blocks)


def _kind(step: Step) -> str:
    return step.op if step.op in EFFECTS else KIND_OF.get(step.op, step.op)


def _form(step: Step, table: dict[str, Named]) -> str:
    if not step.into:
        return "started" if step.start else "plain"
    inside = any(one in step.inputs for one in step.into) or any(
        table[one].meets(table[other]) for one in step.into for other in step.inputs if one in table and other in table
    )
    return f"{'started ' if step.start else ''}{'in place' if inside else 'into'}"


def _of_groups(case: Case, step: Step) -> Iterator[str]:
    try:
        groups: Groups = rank_groups(case.program.mesh, step.axes, step.groups)
        size = len(lines(case.program.mesh, step.axes)[0])
    except ValueError:
        yield "groups:invalid"
        return
    yield f"group:{min(max(map(len, groups), default=0), 4)}"
    yield from ("groups:none",) if step.groups is None else (f"groups:{w}" for w in group_words(step.groups, size))


def _of_attributes(step: Step) -> Iterator[str]:
    for name in ATTRIBUTES.get(step.op, ()):
        value = step.attrs.get(name)
        if name == "op":
            yield f"reduction:{value}"
        elif isinstance(value, bool):
            yield f"{name}:{str(value).lower()}"
        elif isinstance(value, int):
            yield f"{name}:{'negative' if value < 0 else 'zero' if value == 0 else 'positive'}"
        elif isinstance(value, tuple | list):
            yield f"{name}:{'given' if value else 'empty'}"


def _of_blocks(blocks: Sequence[Array]) -> Iterator[str]:
    try:
        dtype = logical(blocks[0].dtype)
    except ValueError:
        return
    size = max(block.size for block in blocks)
    yield f"dtype:{dtype}"
    yield f"kind of dtype:{kind_of_dtype(dtype)}"
    yield f"ndim:{min(blocks[0].ndim, 3)}"
    yield f"size:{_size(size, size * blocks[0].dtype.itemsize)}"
    if 0 < size * blocks[0].dtype.itemsize < LONG:
        yield from (f"values:{word}" for word in _values(dtype, blocks))


def kind_of_dtype(dtype: str) -> str:
    """Return the class of dtypes that one belongs to."""
    family = kind(dtype)
    if family == "integer":
        return "unsigned" if dtype.startswith("u") else "signed"
    if family == "float":
        return "narrow float" if NUMPY[dtype].itemsize <= 2 else "wide float"
    return family


def _size(elements: int, length: int) -> str:
    if length >= LONG:
        return "long"
    return next(
        word
        for word, below in (("empty", 1), ("one", 2), ("few", 8), ("some", 64), ("many", 1 << 62))
        if elements < below
    )


def _values(dtype: str, blocks: Sequence[Array]) -> Iterator[str]:
    parts = np.concatenate([block.reshape(-1) for block in blocks if block.dtype == blocks[0].dtype])
    if len(parts) > 1 and (parts.view(np.uint8).reshape(len(parts), -1) == parts[:1].view(np.uint8)).all():
        yield "alike"
    if kind(dtype) == "integer":
        info = ml_dtypes.iinfo(NUMPY[dtype])
        numbers = parts.astype(np.float64) if dtype in ("int4", "uint4") else parts
        if (numbers == info.max).any() or (numbers == info.min).any():
            yield "extreme"
    elif kind(dtype) in ("float", "complex"):
        if kind(dtype) == "complex":
            parts = parts.view(np.dtype(f"f{parts.itemsize // 2}"))
        limits = ml_dtypes.finfo(parts.dtype)
        with np.errstate(all="ignore"):
            wide = np.abs(parts.astype(np.float64))
            found = {
                "nan": np.isnan(wide),
                "infinite": np.isinf(wide),
                "negative zero": (parts == 0) & np.signbit(parts),
                "subnormal": (wide > 0) & (wide < float(limits.smallest_normal)),
                "extreme": np.isfinite(wide) & (wide >= float(limits.max) / 2),
            }
        yield from (word for word, where in found.items() if where.any())
