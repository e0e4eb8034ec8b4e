"""The table of case features: what every collective of a program is told apart by, in one word for each feature.

Coverage counts which words meet in one collective, pair by pair and three by three; draws are steered by it; automatic
mutants are wrong under conjunctions of it. A *situation* is one collective with its words. The steps of a program have
``CLASSES`` of their own, of which three in a row are a trigram.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.case import Case
from conformance.cases.program.effects import NamedValue, names
from conformance.cases.program.features import LONG, group_words
from conformance.cases.program.program import COMPUTING, EFFECTS, NO_COLLECTIVES, Axis, Groups, Step, rank_groups
from conformance.cases.tensor.dtypes import DRAWN, DTYPES, NUMPY, Array, kind, logical
from conformance.reference.operations import TABLE

Situation = Mapping[str, str]
"""One word for each feature."""

PAST: Final = 1 << 20
PAST_BYTES: Final = 4 << 20
"""Elements, and bytes, from which a block is past the thresholds at which implementations change their algorithm."""

WIDE: Final = 16
"""Elements from which a block fills a vector."""

LANES: Final = 4
"""Elements that the narrowest vector of an implementation holds."""

MANY: Final = 1000
"""Elements from which implementations go over a block in several rounds, though it is not long."""

CLASS_OF: Final[dict[str, str]] = {
    **{name: TABLE[name].does for name in sorted(TABLE)},
    **{name: name for name in EFFECTS},
}
"""The class of a step that is not started."""

CLASSES: Final[tuple[str, ...]] = ("reduce", "gather", "exchange", "spread", "query", "start", *EFFECTS)
"""The classes of steps: what sums, joins, exchanges, hands out and asks; what is started; and each effect."""

TURNS: Final = ("first", "second", "later")
"""Which of a program's collectives one is."""

FEATURES: Final[dict[str, tuple[str, ...]]] = {
    "operation": tuple(sorted(TABLE)),
    "reduction": ("none", "sum", "mean", "premul_sum", "product", "max", "min", "and", "or", "xor"),
    "factor": ("none", "zero", "one", "minus", "small", "great"),
    "dtype": ("none", *DRAWN),
    "extent": ("none", "zero", "one", "small", "undivided", "remainder", "wide", "many", "long"),
    "rank": ("none", "0", "1", "2", "more"),
    "layout": ("none", "contiguous", "strided", "transposed", "flipped", "broadcast", "offset", "mixed", "made"),
    "view": ("none", "part", "stepped", "turned", "ordered", "nested"),
    "groups": ("none", "even", "strided", "unsorted", "uneven", "singletons"),
    "axes": ("none", "one", "inner", "whole", "permuted"),
    "world": ("1", "2", "3", "4", "5 to 7", "8", "more"),
    "members": ("1", "2", "3", "4", "odd", "even"),
    "meetings": ("none", "one", "two", "more"),
    "axis": ("none", "only", "first", "middle", "last", "negative"),
    "local": ("none", "one", "several", "negative"),
    "tiled": ("none", "yes", "no"),
    "root": ("none", "first", "middle", "last"),
    "place": ("fresh", "into", "in_place", "overlap"),
    "start": ("no", "waited", "later", "never"),
    "operands": ("none", "one", "several", "same"),
    "after": ("nothing", *CLASSES),
    "turn": TURNS,
    "values": ("none", "plain", "negative_zero", "extreme", "subnormal", "infinite", "nan"),
}
"""Every feature and its words.

``dtype``, ``extent``, ``rank``, ``layout`` and ``values`` are those of the first operand. ``extent``: ``small`` blocks
have 2 to 15 elements, ``undivided`` ones as many that the members do not divide; ``wide`` ones fill vectors, and with a
``remainder`` not all; those of ``many`` elements have ``MANY``, and ``long`` ones ``features.LONG`` bytes. ``layout``
is that of the input, also under a buffer; what a step made is ``made``. ``view`` is that of the first operand or of its
target. ``axes``: the one of the mesh; ``inner``, some of several; the ``whole`` mesh; or ``permuted``. ``members`` are
those of the greatest group, and ``meetings`` the groups of the mesh that meet each for itself. ``factor`` is what a sum
is multiplied by before: nothing, itself, its opposite, less or more. ``axis`` is the first attribute that names one.
``start``: waited for at once, ``later`` or never. ``after`` is the class of the step before.
"""

OF_CASE: Final[dict[str, tuple[str, ...]]] = {"legal": ("yes", "no"), "trouble": ("apart", "late", "dies")}
"""Features of a whole case, which all of its collectives have: whether it means anything, and how its ranks part.

Suites draw for them, and no interaction of theirs is counted.
"""

NOTHING_DONE: Final = {
    **dict.fromkeys(("reduction", "factor", "groups", "meetings", "axis", "local", "tiled", "root"), "none"),
    "members": "1",
}
"""The words of what means nothing over no axis, and of no operands."""


def classed(steps: Iterable[Step]) -> list[str]:
    """Return the classes of steps in order; those that compute have none, and are as if they were not there."""
    return [step_class(step) for step in steps if step.op not in COMPUTING]


def step_class(step: Step) -> str:
    """Return the class of a step."""
    return "start" if step.start else CLASS_OF[step.op]


def trigrams(case: Case) -> Iterator[tuple[str, str, str]]:
    """Yield the classes of every three steps in a row."""
    classes = classed(case.program.steps)
    yield from zip(classes, classes[1:], classes[2:], strict=False)


def situations(case: Case, read: Sequence[Sequence[Sequence[Any]]]) -> Iterator[Situation]:
    """Yield the situation of every collective of a program, in order, of as many as were come to.

    ``read`` has, for each of them, the operands that it reads, as blocks of all ranks. Raise ``ValueError`` at one
    whose axes or groups are none.
    """
    program = case.program
    effects = any(step.op in EFFECTS or step.into or step.start for step in program.steps)
    table = names(case) if effects else {}
    views = {step.outputs[0]: step for step in program.steps if step.op == "view"}
    collectives = [index for index, step in enumerate(program.steps) if step.op not in NO_COLLECTIVES]
    for number, (index, operands) in enumerate(zip(collectives, read, strict=False)):
        step = program.steps[index]
        before = (classed(program.steps[:index]) or ["nothing"])[-1]
        words = _call_words(step) | _mesh_words(case, step)
        words |= _operand_words(step, operands, _members(case, step))
        words |= {"axis": _axis_word(step, operands), "layout": _layout_word(case, step, table)}
        words |= {"view": _view_word(step, views), "place": _place_word(step, table)}
        words |= {"start": _start_word(case, index), "after": before, "turn": TURNS[min(number, 2)]}
        if step.idle or (not step.inputs and CLASS_OF[step.op] != "query"):
            words |= NOTHING_DONE
        yield {name: words[name] for name in FEATURES}


def _call_words(step: Step) -> dict[str, str]:
    op, tiled = step.attrs.get("op"), step.attrs.get("tiled")
    local = step.attrs.get("local_axes") or ()
    assert isinstance(local, tuple | list)
    alike = len(step.inputs) > 1 and len(set(step.inputs)) < len(step.inputs)
    return {
        "operation": step.op,
        "reduction": op if isinstance(op, str) and op in FEATURES["reduction"] else "none",
        "factor": factor_word(step.attrs.get("factor", 1.0)) if op == "premul_sum" else "none",
        "tiled": "none" if tiled is None else "yes" if tiled else "no",
        "local": local_word([axis for axis in local if isinstance(axis, int)]),
        "operands": "same" if alike else ("none", "one", "several")[min(len(step.inputs), 2)],
    }


def local_word(axes: Sequence[int]) -> str:
    """Return the class of local axes."""
    return "negative" if any(axis < 0 for axis in axes) else ("none", "one", "several")[min(len(axes), 2)]


def factor_word(factor: object) -> str:
    """Return the class of what is multiplied by."""
    assert isinstance(factor, int | float)
    words = {0.0: "zero", 1.0: "one", -1.0: "minus"}
    return words.get(float(factor), "small" if abs(factor) < 1 else "great")


def _members(case: Case, step: Step) -> int:
    groups = rank_groups(case.program.mesh, step.axes, step.groups)
    return max(1, *map(len, groups)) if groups else 1  # only groups that are illegal have no member


def _mesh_words(case: Case, step: Step) -> dict[str, str]:
    count, root = _members(case, step), step.attrs.get("root")
    meetings = len(rank_groups(case.program.mesh, step.axes, step.groups))
    position = "first" if not root else "last" if root == count - 1 else "middle"
    return {
        "groups": groups_word(step.groups),
        "axes": axes_word(case.program.mesh, step.axes),
        "world": world_word(case.program.world),
        "members": members_word(count),
        "meetings": meetings_word(meetings),
        "root": position if isinstance(root, int) else "none",
    }


def groups_word(groups: Groups | None) -> str:
    """Return the kind of groups that partition their positions."""
    if groups is None:
        return "none"
    of = group_words(groups, sum(map(len, groups)))
    return next((word for word in ("singletons", "uneven", "unsorted", "strided") if word in of), "even")


def axes_word(mesh: tuple[Axis, ...], axes: tuple[str, ...]) -> str:
    """Return which of the axes of a mesh are named."""
    if len(axes) < 2:
        return "none" if not axes else "one" if len(mesh) == 1 else "inner"
    in_order = tuple(axis.name for axis in mesh if axis.name in axes)
    return "permuted" if in_order != axes else "whole" if len(mesh) == len(axes) else "inner"


def world_word(world: int) -> str:
    """Return the class of a number of ranks."""
    return str(world) if world < 5 or world == 8 else "5 to 7" if world < 8 else "more"


def members_word(count: int) -> str:
    """Return the class of a number of members."""
    return str(count) if count < 5 else ("even", "odd")[count % 2]


def meetings_word(count: int) -> str:
    """Return the class of a number of groups."""
    return ("none", "one", "two", "more")[min(count, 3)]


def _operand_words(step: Step, read: Sequence[Sequence[Any]], members: int) -> dict[str, str]:
    blocks = [block for block in (read[0] if read else ()) if isinstance(block, np.ndarray)]
    shape, dtype = step.attrs.get("shape"), step.attrs.get("dtype")
    if isinstance(shape, tuple | list) and isinstance(dtype, str):  # what a recv expects of a token
        blocks = [np.zeros(tuple(map(int, shape)), NUMPY[dtype])]  # type: ignore[arg-type]
    if not blocks:
        return dict.fromkeys(("dtype", "extent", "rank", "values"), "none")
    most = max(blocks, key=lambda block: block.size)
    return {
        "dtype": dtype_word(logical(most.dtype)),
        "extent": extent_word(most.size, most.itemsize, members),
        "rank": rank_word(most.ndim),
        "values": values_word(blocks),
    }


def dtype_word(dtype: str) -> str:
    """Return a dtype that is drawn, and of another one that is drawn and most like it."""
    if dtype in DRAWN:
        return dtype
    row = DTYPES[dtype]
    return min(DRAWN, key=lambda name: (DTYPES[name].kind != row.kind, abs(DTYPES[name].bits - row.bits)))


def rank_word(axes: int) -> str:
    """Return the class of a number of axes."""
    return str(axes) if axes < 3 else "more"


def extent_word(elements: int, width: int, members: int) -> str:
    """Return the class of a block of so many elements of so many bytes, among so many members."""
    if elements < 2:
        return ("zero", "one")[elements]
    if elements * width >= LONG:
        return "long"
    if elements >= MANY:
        return "many"
    if elements < WIDE:
        return "undivided" if elements % members else "small"
    return "remainder" if elements % LANES else "wide"


def values_word(blocks: Sequence[Array]) -> str:
    """Return the most dangerous kind of value that blocks of one dtype hold."""
    flat = np.concatenate([block.reshape(-1)[: 1 << 12] for block in blocks if block.dtype == blocks[0].dtype])
    if not flat.size:
        return "none"
    dtype = logical(flat.dtype)
    family = kind(dtype)
    if family in ("bool", "integer"):
        if family == "bool":
            return "plain"
        info = ml_dtypes.iinfo(flat.dtype)
        return "extreme" if ((flat == info.max) | (flat == info.min)).any() and info.max > 1 else "plain"
    if family == "complex":
        flat = flat.view(f"f{flat.itemsize // 2}")
    form = ml_dtypes.finfo(flat.dtype)
    with np.errstate(invalid="ignore"):
        size = np.abs(flat)
        tests = {
            "nan": np.isnan(flat),
            "infinite": np.isinf(flat),
            "subnormal": (size > 0) & (size < form.smallest_normal),
            "extreme": size >= form.max,
            "negative_zero": (flat == 0) & np.signbit(flat),
        }
    return next((word for word, where in tests.items() if where.any()), "plain")


def _axis_word(step: Step, read: Sequence[Sequence[Any]]) -> str:
    axis = next((step.attrs[name] for name in ("axis", "split_axis") if name in step.attrs), None)
    block = next((block for block in (read[0] if read else ()) if isinstance(block, np.ndarray)), None)
    if not isinstance(axis, int) or block is None:
        return "none"
    # An axis that is to be made may stand behind the last one.
    made = CLASS_OF[step.op] == "gather" and not step.attrs.get("tiled")
    return axis_word(axis, block.ndim + made)


def axis_word(axis: int, count: int) -> str:
    """Return which of ``count`` axes one is."""
    if axis < 0:
        return "negative"
    return "only" if count < 2 else "first" if axis == 0 else "last" if axis == count - 1 else "middle"


def _layout_word(case: Case, step: Step, table: Mapping[str, NamedValue]) -> str:
    if not step.inputs:
        return "none"
    name = step.inputs[0]
    base = table[name].base if name in table else ""
    source = case.program.buffers.get(base, name)
    if source not in case.inputs:
        return "made"
    layouts = set(case.inputs[source].layouts)
    return layouts.pop() if len(layouts) == 1 else "mixed"


def _view_word(step: Step, views: Mapping[str, Step]) -> str:
    found = [views[name] for name in (*step.inputs[:1], *step.into[:1]) if name in views]
    if not found:
        return "none"
    view = found[0]
    if view.inputs[0] in views:
        return "nested"
    stride, order = (tuple(view.attrs.get(name, ())) for name in ("step", "order"))  # type: ignore[arg-type]
    if any(isinstance(one, int) and one < 0 for one in stride):
        return "turned"
    if any(isinstance(one, int) and one > 1 for one in stride):
        return "stepped"
    return "ordered" if list(order) != sorted(order) else "part"


def _place_word(step: Step, table: Mapping[str, NamedValue]) -> str:
    if not step.into:
        return "fresh"
    read, written = [table[name] for name in step.inputs], [table[name] for name in step.into]
    meets = [(operand, target) for operand in read for target in written if operand.meets(target)]
    if not meets:
        return "into"
    return "in_place" if all(operand == target for operand, target in meets) else "overlap"


def _start_word(case: Case, index: int) -> str:
    steps = case.program.steps
    if not steps[index].start:
        return "no"
    tickets = set(steps[index].outputs)
    waits = [at for at, step in enumerate(steps) if step.op == "done" and tickets & set(step.inputs)]
    return "never" if not waits else "waited" if waits[0] == index + 1 else "later"
