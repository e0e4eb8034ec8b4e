"""What a case is made of, as plain facts that claims, coverage and reports share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case
from conformance.cases.program.computing_words import computing_words
from conformance.cases.program.effect_words import effect_words
from conformance.cases.program.effects import Region, names
from conformance.cases.program.feature_words import reduction_word
from conformance.cases.program.program import Attr, Groups, Step, lines, rank_groups
from conformance.cases.program.rank_faults import trouble_words
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import Tensor, to_array

Features = dict[str, frozenset[str]]

LONG: Final = 1 << 16
"""Bytes from which a block is long: implementations hand over such in another way (Open MPI, #2824)."""

SHORT: Final = 1 << 12
"""Hexadecimal digits up to which it is kept what values are among those of a block."""


def features(case: Case) -> Features:
    """Return the facts of a case, each a set of words.

    ``dtype``, ``layout``, ``world``, ``axes`` (none, one, several, whatever they are, and invalid beside that where the
    mesh has not each of them or one comes twice), ``operands`` (none, one, several), ``meeting`` (world: all ranks meet
    in one group, in order; reordered: in another order; groups: each group meets for itself; invalid),
    ``ranks`` (alike: they hold one dtype and shape; rows: they differ along axis 0 alone; different; apart: different,
    though in some group they agree), ``ndim``, ``size`` (empty, one, many, long), ``values`` (nan, negative_zero,
    plain), ``groups`` (see ``group_words``), ``reduction`` (such as ``sum of integer``), and one for each attribute:
    words and truth values as they are (``unknown`` for a reduction that is none), numbers by sign, tuples by whether
    they are given, are empty or hold an empty one, hold a negative number, and hold one twice (pairs: on one side). A
    ``root`` that some groups have and others have not is ``partial`` too, and so are ``pairs`` in which a position of a
    group sends or receives nothing.
    ``tokens`` tells whether what is sent is ``received`` or ``unreceived``. ``layout`` is that of views as well;
    ``effects`` and ``flow`` are the words of ``effect_words``, and ``flow``, ``computes`` (such as ``add of float``)
    and ``computed`` (dtypes) those of ``computing_words``; ``faults`` are those of ``trouble_words``; all the others
    are about collectives.
    """
    facts = {name: frozenset(words) for name, words in _whole(case).items()}
    for step in case.program.collectives:
        for name, words in _of_step(case, step, facts["dtype"]):
            facts[name] = facts.get(name, frozenset()).union(words)
    return facts


def _whole(case: Case) -> dict[str, Iterable[str]]:
    """Return the facts of a case that are not told step by step."""
    blocks = [block for operand in case.inputs.values() for block in operand.blocks]
    effects, flow = effect_words(case)
    computing = computing_words(case)
    return {
        "dtype": [block.dtype for block in blocks],
        "layout": [*(word for operand in case.inputs.values() for word in operand.layouts), *_view_words(case)],
        "world": [str(case.program.world)],
        "axes": _axes_words(case),
        "operands": [_operand_word(step) for step in case.program.collectives],
        "ranks": _rank_words(case),
        "ndim": [str(len(block.shape)) for block in blocks],
        "size": [_size_word(block) for block in blocks],
        "values": [word for block in blocks for word in _value_words(block)] or ["plain"],
        "effects": effects,
        "flow": flow | computing["flow"],
        "computes": computing["computes"],
        "computed": computing["computed"],
        "faults": trouble_words(case),
    }


def _of_step(case: Case, step: Step, dtypes: Iterable[str]) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the facts of one collective, each with its words."""
    yield "groups", _step_groups(case, step)
    yield "meeting", [_meeting_word(case, step)]
    for name, value in step.attrs.items():
        if value is not None and not isinstance(value, float):
            yield name, _attribute_words(name, value)
    root, meeting = step.attrs.get("root"), _meeting(case, step)
    if isinstance(root, int) and len({0 <= root < len(group) for group in meeting}) > 1:
        yield "root", ["partial"]
    if any(_unpaired(step.attrs.get("pairs"), len(group)) for group in meeting):
        yield "pairs", ["partial"]
    if step.op == "send":
        yield "tokens", [_token_word(case, step)]
    if isinstance(op := step.attrs.get("op"), str):
        yield "reduction", [f"{reduction_word(op)} of {kind(dtype)}" for dtype in dtypes]


def _attribute_words(name: str, value: str | int | tuple[Any, ...]) -> Iterable[str]:
    """Return the words of the value of an attribute."""
    if name == "op" and isinstance(value, str):
        return [reduction_word(value)]
    if isinstance(value, bool | str):
        return [str(value).lower()]
    if isinstance(value, int):
        return ["negative" if value < 0 else "nonnegative"]
    return _tuple_words(value)


def group_words(groups: Groups, size: int) -> frozenset[str]:
    """Return what groups of ``size`` positions are like.

    ``invalid`` alone when they are no partition; otherwise ``even`` or ``uneven``, and any of
    ``unsorted``, ``strided`` (ascending, not consecutive) and ``singletons``.
    """
    if sorted(p for group in groups for p in group) != list(range(size)) or not all(groups):
        return frozenset({"invalid"})
    words = {"even" if len({len(group) for group in groups}) == 1 else "uneven"}
    if any(list(group) != sorted(group) for group in groups):
        words.add("unsorted")
    elif any(group[-1] - group[0] != len(group) - 1 for group in groups):
        words.add("strided")
    if all(len(group) == 1 for group in groups):
        words.add("singletons")
    return frozenset(words)


def _step_groups(case: Case, step: Step) -> frozenset[str]:
    if step.groups is None:
        return frozenset({"none"})
    try:
        return group_words(step.groups, len(lines(case.program.mesh, step.axes)[0]))
    except ValueError:
        return frozenset({"invalid"})


def _axes_words(case: Case) -> Iterator[str]:
    """Yield how many axes each step names, and ``invalid`` where the mesh has not each of them or one comes twice."""
    known = {axis.name for axis in case.program.mesh}
    for step in case.program.collectives:
        yield ("none", "one", "several")[min(len(step.axes), 2)]
        if not set(step.axes) <= known or len(set(step.axes)) < len(step.axes):
            yield "invalid"


def _operand_word(step: Step) -> str:
    return ("none", "one", "several")[min(len(step.inputs), 2)]


def _rank_words(case: Case) -> list[str]:
    """Return for every operand whether all ranks hold one dtype and shape, or else in which way they do not."""
    words = []
    for name, operand in case.inputs.items():
        wholes = {(block.dtype, block.shape) for block in operand.blocks}
        rows = [(block.dtype, len(block.shape), block.shape[1:]) for block in operand.blocks]
        groups = [group for step in case.program.collectives if name in step.inputs for group in _meeting(case, step)]
        apart = any(len({rows[rank] for rank in group if rank < len(rows)}) == 1 for group in groups)
        unlike = "rows" if len(set(rows)) == 1 else "apart" if apart else "different"
        words.append("alike" if len(wholes) == 1 else unlike)
    return words


def _meeting(case: Case, step: Step) -> Groups:
    """Return the ranks that meet in a step; all of them where its axes make no sense."""
    try:
        return rank_groups(case.program.mesh, step.axes, step.groups)
    except ValueError:
        return (tuple(range(case.program.world)),)


def _meeting_word(case: Case, step: Step) -> str:
    """Return whether all ranks meet in one group, in their order or another, or several groups each for itself."""
    try:
        groups = rank_groups(case.program.mesh, step.axes, step.groups)
    except ValueError:
        return "invalid"
    if len(groups) != 1:
        return "groups"
    return "world" if groups[0] == tuple(range(case.program.world)) else "reordered"


def _tuple_words(value: tuple[int | tuple[int, ...], ...]) -> frozenset[str]:
    flat = [n for part in value for n in (part if isinstance(part, tuple) else (part,))]
    pairs = [part for part in value if isinstance(part, tuple) and len(part) == 2]
    columns = list(zip(*pairs, strict=True)) if len(pairs) == len(value) else [flat]
    words = {
        "given": bool(value),
        "empty": not value or () in value,
        "negative": min(flat, default=0) < 0,
        "repeated": any(len(set(column)) < len(column) for column in columns),
    }
    return frozenset(word for word, speaks in words.items() if speaks)


def _unpaired(pairs: Attr | None, size: int) -> bool:
    """Return whether some position of a group of ``size`` sends or receives nothing along ``pairs``."""
    if not isinstance(pairs, tuple):
        return False
    sides = zip(*pairs, strict=True) if pairs else ((), ())
    return any(set(side) != set(range(size)) for side in sides)


def _token_word(case: Case, send: Step) -> str:
    taken = {name for step in case.program.collectives if step.op == "recv" for name in step.inputs}
    return "received" if taken.issuperset(send.outputs) else "unreceived"


def _view_words(case: Case) -> Iterator[str]:
    """Yield the layouts that views are of contiguous buffers: with gaps between their elements they are strided."""
    views = [step for step in case.program.steps if step.op == "view"]
    table = names(case) if views else {}
    for step in views:
        numbers = [
            value for value in (step.attrs.get("step"), step.attrs.get("order")) if isinstance(value, tuple | list)
        ]
        strides, order = (numbers[0], numbers[1:]) if numbers else ((), [])
        view = table[step.outputs[0]]
        if any(isinstance(stride, int) and stride < 0 for stride in strides):
            yield "flipped"
        if any(map(_gaps, view.regions, table[view.base].regions)):
            yield "strided"
        if any(list(one) != sorted(one) for one in order):
            yield "transposed"


def _gaps(part: Region, whole: Region) -> bool:
    """Return whether elements of ``whole`` lie between those of ``part``."""
    axes = [axis for axis, indices in enumerate(part.ranges) if len(indices) > 1]
    if not axes or 0 in part.shape:
        return False
    inner = slice(axes[0] + 1, None)
    narrowed = any(len(one) != len(all_) for one, all_ in zip(part.ranges[inner], whole.ranges[inner], strict=True))
    return narrowed or any(abs(part.ranges[axis].step) > 1 for axis in axes)


def _size_word(block: Tensor) -> str:
    elements = math.prod(block.shape)
    if elements * NUMPY[block.dtype].itemsize >= LONG:
        return "long"
    return "empty" if elements == 0 else "one" if elements == 1 else "many"


def _value_words(block: Tensor) -> tuple[str, ...]:
    if kind(block.dtype) not in ("float", "complex"):
        return ()
    return _kept_words(block) if len(block.bits) <= SHORT else _found_words(block)


def _found_words(block: Tensor) -> tuple[str, ...]:
    array = to_array(block)
    if array.dtype.kind == "c":
        array = array.reshape(-1).view(np.dtype(f"f{array.itemsize // 2}"))
    with np.errstate(invalid="ignore"):
        found = {"nan": np.isnan(array), "negative_zero": (array == 0) & np.signbit(array)}
    return tuple(word for word, where in found.items() if where.any())


_kept_words = lru_cache(1024)(_found_words)
"""Asked again of every block by each call of a program that has it."""
