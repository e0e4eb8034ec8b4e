"""A table of calls: every collective of typed programs with attributes that rules mistake, over every form of axes.

A program has a share of the table, each call on inputs of its own, twice: over all axes turned, and over one of several
axes, over all in the order of the mesh, or over groups. A run with the default number of examples has each call so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.cases.program.program import Axis, Groups
from conformance.cases.types.starts import DONES, no_start, no_such_start
from conformance.cases.types.typed_program import GROUPED, TypedProgram, TypedStep
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.types.rare.listing import Listing
from conformance.specs.types.steps import Shape, ragged

Axes = tuple[str, ...]


class Call(NamedTuple):
    """An operation, the shape of its operand and its attributes, both of the number of members.

    One that is ``linear`` has a transpose. ``untyped`` and ``typed`` ones are refused with types or without.
    """

    op: str
    shape: Callable[[int], Shape]
    attrs: Callable[[int], Mapping[str, Any]]
    linear: bool = True
    untyped: bool = False
    typed: bool = False


def _gather(shape: Shape, axis: int, to: str, *, tiled: bool) -> Call:
    return Call(
        "all_gather", lambda _: shape, lambda _: {"axis": axis, "tiled": tiled, "to": to}, typed=to == "reduced"
    )


def _scatter(shape: Callable[[int], Shape], axis: int, *, tiled: bool) -> Call:
    return Call("reduce_scatter", shape, lambda _: {"op": "sum", "axis": axis, "tiled": tiled})


def _exchange(shape: Callable[[int], Shape], split: int, concat: int, *, tiled: bool) -> Call:
    return Call("all_to_all", shape, lambda _: {"split_axis": split, "concat_axis": concat, "tiled": tiled})


def _permute(pairs: Callable[[int], Groups]) -> Call:
    return Call("permute", lambda _: (2,), lambda n: {"pairs": pairs(n)})


def _reduce(op: str, *local: int) -> Call:
    attrs = {"op": op, **({"local_axes": local} if local else {})}
    return Call("all_reduce", lambda _: (2, 4), lambda _: attrs, linear=op in ("sum", "mean"), untyped=bool(local))


CALLS: Final[tuple[Call, ...]] = (
    _reduce("sum"),
    _gather((2, 1), 1, "varying", tiled=True),
    _scatter(lambda n: (2, n), 1, tiled=False),
    _exchange(lambda n: (n, n), 0, 1, tiled=False),
    _permute(lambda n: (*((p, (p + 1) % (n - 1)) for p in range(n - 1)), (n - 1, n - 1))),
    _gather((2,), 0, "invariant", tiled=True),
    _reduce("mean"),
    _exchange(lambda n: (2 * n, 2), 0, 1, tiled=True),
    Call("broadcast", lambda _: (2,), lambda n: {"root": n - 1}),
    _gather((2, 1), 2, "varying", tiled=False),
    _scatter(lambda n: (2 * n, 2), 0, tiled=True),
    Call("ragged_all_to_all", lambda _: (4, 2), lambda _: {}),
    _reduce("mean", 1, 0),
    _exchange(lambda n: (n, 2, n), 2, 0, tiled=False),
    _gather((1, 2), 0, "reduced", tiled=False),
    Call("shuffle", lambda _: (2,), lambda n: {"sources": (*range(1, n), 0)}),
    _scatter(lambda n: (n, 2), 0, tiled=False),
    _reduce("max"),
    _gather((1, 2), 1, "invariant", tiled=False),
    Call("sum", lambda _: (2, 2), lambda _: {"axis": 1}),
    _permute(lambda n: tuple((p, p + 1) for p in range(n - 1))),
    _exchange(lambda n: (2, 2 * n), 1, 0, tiled=True),
    Call("broadcast", lambda _: (2,), lambda n: {"root": n // 2}),
    _gather((1, 2), 0, "reduced", tiled=True),
    _reduce("sum", 0, 1),
    _scatter(lambda n: (2, 2 * n), 1, tiled=True),
    Call("cast", lambda _: (2,), lambda _: {"to": "varying"}, typed=True),
    _exchange(lambda n: (n, n), 1, 0, tiled=False),
    Call("cast", lambda _: (2,), lambda _: {"to": "reduced"}, typed=True),
    Call("sum", lambda _: (2, 2, 2), lambda _: {"axis": 2}),
    _exchange(lambda n: (n, n), 1, 1, tiled=True),
    _reduce("min"),
)
"""The calls: neighbours are unlike, so that a share of the table has most operations."""

COMBINED: Final = (CALLS[0], CALLS[1], _scatter(lambda n: (2 * n, 2), 0, tiled=True))
"""Calls that compilers combine."""

MESHES: Final = ((2, 2, 2), (4, 2), (2, 2, 2), (2, 3), (2, 4))
"""Meshes of the turns: means are over powers of two, and axes of two sizes tell their orders apart."""

SHARE: Final = 14
"""Calls of a program, each over all axes turned and in another form: the nine of a run have each twice at least."""

STARTED: Final = 4
"""Calls of a program that starts each twice."""

SQUARE: Final = 6
"""Members of a call on blocks of as many rows and columns, at most."""


def called_program(draw: Draw, turn: int) -> TypedProgram:
    """Return the linear program of a turn: every second one has no types."""
    e = Listing(draw, checked=turn % 2 == 0, meshes=(MESHES[turn % len(MESHES)],))
    calls = [each for each in CALLS if each.linear and not (each.untyped if e.checked else each.typed)]
    for call in _dealt(turn // 2, [each for each in calls if _apart(each) == (turn % 6 > 3)]):
        _call(e, call, e.names[::-1], None)
        _call(e, call, *_elsewhere(e, call))
    _unlike(e)
    return e.program()


def lowered_program(draw: Draw, turn: int) -> TypedProgram:
    """Return a program to be lowered: every second call that can be started is, and one operand is started twice.

    Every second program has indices, and no mean, which would not be exact in their dtype.
    """
    e = Listing(draw, checked=turn % 4 < 2, meshes=(MESHES[turn % len(MESHES)],))
    calls = [each for each in CALLS if not (each.untyped if e.checked else each.typed)]
    calls = [each for each in calls if turn % 2 or each.attrs(2).get("op") != "mean"]
    # JAX has no start of them, and a program that has one is none that it can be asked for.
    whole = {"reduce_scatter", "all_to_all"} if turn % 4 < 3 else set[str]()
    for number, call in enumerate(_dealt(turn, calls)):
        start, never = bool((number + turn) % 2), call.op in whole and not call.attrs(2)["tiled"]
        _call(e, call, e.names[::-1], None, start=start and not never)
        _call(e, call, *_elsewhere(e, call), start=not start and not never)
    x, axes = e.given((2,)), (e.names[:1], e.names[-1:])
    tickets = [e.do("all_reduce", x, axes=each, start=True, op="sum") for each in axes]
    e.keep(*(e.do("done", ticket, of="all_reduce") for ticket in reversed(tickets)))
    if turn % 2 == 0:
        e.keep(*(e.do("axis_index", axes=axes) for axes in (*((name,) for name in e.names), e.names, e.names[::-1])))
    return e.program()


def started_program(draw: Draw, turn: int) -> TypedProgram:
    """Return a program of two starts of each of some operands, over other axes: finished in any order, twice, or never.

    A sum of an unreduced operand along two axes is one of them, and a scattered one along one axis another.
    """
    e = Listing(draw, checked=turn % 4 < 3, meshes=(MESHES[turn % len(MESHES)],))
    calls = [each for each in CALLS if _starts(each) and not (each.untyped if e.checked else each.typed)]
    # JAX starts no untiled exchange, and a program that has one says nothing more of it.
    calls = [each for each in calls if not e.checked or each.attrs(2).get("tiled", True) or each.op == "all_gather"]
    calls = [each for each in calls if _apart(each) == (turn % 3 == 2)] if e.checked else calls
    tickets: list[tuple[str, str]] = []
    for call in (calls[number % len(calls)] for number in range(turn * STARTED, (turn + 1) * STARTED)):
        for each in (e.names[::-1], e.names[:1]) if turn % 2 else (e.names[:1], e.names[-1:]):
            axes = each if call.op != "permute" else each[:1]
            shape, attrs = call.shape(e.size(axes)), dict(call.attrs(e.size(axes)))
            same = next(
                (s.inputs[0] for s in e.steps if s.op == call.op and e.inputs[s.inputs[0]].shape == shape), None
            )
            tickets.append((e.do(call.op, same or e.given(shape), axes=axes, start=True, **attrs), call.op))
    if e.checked:
        pending = e.do("cast", e.given((2,)), axes=e.names[:2], to="unreduced")
        tickets.append((e.do("all_reduce", pending, axes=e.names[1::-1], start=True, op="sum"), "all_reduce"))
        rows = e.do("cast", e.given((2 * e.size(e.names[:1]), 2)), axes=e.names[:1], to="unreduced")
        scattered = e.do("reduce_scatter", rows, axes=e.names[:1], start=True, op="sum", axis=0, tiled=True)
        tickets.append((scattered, "reduce_scatter"))
    order = draw(choices.permutations(tickets))
    e.keep(*(e.do("done", ticket, of=op) for ticket, op in (*order[1:], order[-1])))
    # What is done already is the same after another start.
    late = e.do("all_reduce", e.given((2, 4)), axes=e.names[:1], start=True, op="sum")
    e.keep(*(e.do("done", ticket, of=op) for ticket, op in ((late, "all_reduce"), order[1])))
    return e.program()


def combined_program(draw: Draw, turn: int) -> TypedProgram:
    """Return two calls of one operation over unlike axes, and nothing else: compilers make one of calls that agree."""
    e = Listing(draw, meshes=((2, 2), (2, 3), (2, 2, 2)))
    call = COMBINED[turn % len(COMBINED)]
    for axes in (e.names[:1], e.names[-1:]):
        _call(e, call, axes, None)
    return e.program()


def _starts(call: Call) -> bool:
    return (
        call.op in DONES
        and no_start(call.op, call.attrs(2)) is None
        and no_such_start(call.op, call.attrs(2)) is None
        and not call.attrs(2).get("local_axes")
    )


def mapped_calls(draw: Draw, turn: int, levels: Sequence[Axis]) -> Listing:
    """Return a program whose calls all name axes in one way: levels in either order, a level and a mesh axis, the mesh.

    Every second operand is one that no level maps. One program in three has indices, and no mean. In the third that has
    what some systems lack, every other pair of calls is in groups, whose members come in another order than along axes.
    """
    e = Listing(draw, levels=levels, checked=turn % 2 == 0, meshes=((2, 2), (4,)))
    e.keep(e.do("negate", e.given((2,))))
    inner, outer = levels[-1].name, levels[0].name
    forms: list[Axes] = [(inner,), (outer,), e.names[::-1], (inner, e.names[-1]), (outer, inner)]
    forms += [(e.names[0], outer), (inner, outer)]
    axes = forms[turn % len(forms)]
    calls = [each for each in CALLS if each.attrs(2).get("to", "varying") == "varying" and each.op != "cast"]
    # Those that some systems lack are in a third of the programs, over every form of axes in turn.
    calls = [each for each in calls if turn // len(forms) % 2 or not _apart(each)] if turn % 3 else calls
    indexed = turn % 3 == 2
    size = e.size(axes)
    backwards = tuple((at, at - 1) for at in range(size - 1, 0, -2)) if size % 2 == 0 else (tuple(range(size))[::-1],)
    for number, call in enumerate(calls):
        mean = call.attrs(2).get("op") == "mean"
        groups = backwards if turn % 3 == 0 and (number // 2 + turn) % 2 and _may_group(e, call) else None
        if not (mean and indexed):
            _call(e, call, axes, groups, constant=not mean and bool((number + turn) % 2))
    if indexed:
        e.keep(*(e.do("axis_index", axes=each) for each in (axes, (inner,), (outer,))))
    return e


def _apart(call: Call) -> bool:
    """Return whether some systems lack a call, so that it stands in programs of its own: JAX has it on no CPU."""
    # Its transpose of an untiled exchange fails, which would hide the rest.
    untiled = call.op == "all_to_all" and not call.attrs(2)["tiled"]
    return untiled or call.op in ("broadcast", "ragged_all_to_all") or bool(call.attrs(2).get("local_axes"))


def _dealt(turn: int, calls: Sequence[Call]) -> list[Call]:
    """Return the calls of a turn, all of them before one comes again."""
    return [calls[number % len(calls)] for number in range(turn * SHARE, (turn + 1) * SHARE)]


def _elsewhere(e: Listing, call: Call) -> tuple[Axes, Groups | None]:
    """Draw axes that a call names, one of several or all in the order of the mesh, or groups along them."""
    form = e.draw(choices.sampled_from(["first", "last", "all", "groups"]))
    groups = e.halves(e.names) if form == "groups" else None
    if groups is not None and _may_group(e, call):
        return e.names, groups
    return {"last": e.names[-1:], "all": e.names}.get(form, e.names[:1]), None


def _may_group(e: Listing, call: Call) -> bool:
    """Return whether a call may be in groups; types allow no sum that is."""
    varies = call.op in GROUPED and call.attrs(2).get("to", "varying") == "varying"
    return varies and not (e.checked and call.op == "all_reduce")


def _call(
    e: Listing, call: Call, axes: Axes, groups: Groups | None, *, constant: bool = False, start: bool = False
) -> None:
    """Add a call on an input of its own and keep its result, where types allow it and no mean rounds."""
    if call.untyped if e.checked else call.typed:
        return
    if call.op in ("permute", "shuffle"):
        # What their positions are in another order of mesh axes is a clause of the programs of collectives.
        axes = e.meshwise(axes)
    n = len(groups[0]) if groups else e.size(axes)
    shape, attrs = call.shape(n), dict(call.attrs(n))
    if n < 2 or (n.bit_count() != 1 and attrs.get("op") == "mean") or (shape.count(n) > 1 and n > SQUARE):
        return
    varying = () if call.op == "cast" else e.names
    of: tuple[str, ...] = (e.constant(shape) if constant else e.given(shape, varying),)
    if call.op == "ragged_all_to_all":
        found = ragged(e.draw, shape, shape, n)
        of, attrs = (*of, e.given(shape)), dict(found.attrs) if found else {}
    if call.op == "sum":
        axes, groups = (), None
    step = TypedStep(op=call.op, inputs=of, output="", axes=axes, attrs=attrs, groups=groups)
    if start and call.op in DONES and no_start(call.op, attrs) is None and no_such_start(call.op, attrs) is None:
        e.keep(e.do("done", e.do(call.op, *of, axes=axes, groups=groups, start=True, **attrs), of=call.op))
    else:
        e.keep(e.add(step))


def _unlike(e: Listing) -> None:
    """Add local operations of operands of which one or each is cast: they vary along other axes, or along none."""
    first, last, none = e.given((2,), e.names[:1]), e.given((2,), e.names[-1:]), e.given((2,), ())
    e.keep(e.do("multiply", first, last), e.do("subtract", none, last), e.do("multiply", first, none))
    e.keep(e.do("subtract", last, none), e.do("add", none, first), e.do("multiply", none, last))
