"""The operations of the specification in StableHLO's words: one function each, mapping names and arguments only.

Each returns the operation on one operand as text, and its result. ``groups`` are of replicas where ``channel`` is 0,
else of the partitions that meet on that channel. A result's type must be written down, so its shape is worked out here;
where the arguments allow none it is the operand's, and the verifier is left to say what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.backends.base import Unsupported
from conformance.backends.stablehlo.elements import SsaValue, tensor_type
from conformance.cases.program.program import Groups

TypedValue = tuple[str, SsaValue]

COMPUTATIONS: Final = {
    "sum": "add", "product": "multiply", "max": "maximum", "min": "minimum", "and": "and", "or": "or", "xor": "xor",
}  # fmt: skip


FLATTENED: Final = ("all_gather", "all_reduce", "reduce_scatter")
"""Operations that, with a channel, are across replicas and partitions unless they are told that ids are flattened."""


def all_gather(x: SsaValue, name: str, groups: Groups, channel: int, *, axis: int, tiled: bool) -> TypedValue:
    """Return ``all_gather``; raise ``Unsupported`` for results of one more dimension."""
    _tiled("all_gather", tiled)
    made = _resized(x, name, {axis: len(groups[0])})
    return _op("all_gather", x, made, f"all_gather_dim = {axis} : i64, {_replicas(groups)}", channel=channel), made


def all_reduce(
    x: SsaValue,
    name: str,
    groups: Groups,
    channel: int,
    *,
    op: str,
    local_axes: tuple[int, ...] = (),
    factor: float = 1.0,
) -> TypedValue:
    """Return ``all_reduce``; raise ``Unsupported`` for local axes and reductions that are no single operation."""
    del factor
    if local_axes:
        raise Unsupported("StableHLO reduces over processes alone")
    made = _resized(x, name, {})
    return _op("all_reduce", x, made, _replicas(groups), _computation(op, x), channel=channel), made


def reduce_scatter(
    x: SsaValue, name: str, groups: Groups, channel: int, *, op: str, axis: int, tiled: bool, factor: float = 1.0
) -> TypedValue:
    """Return ``reduce_scatter``; raise ``Unsupported`` as ``all_gather`` and ``all_reduce`` do."""
    del factor
    _tiled("reduce_scatter", tiled)
    made = _resized(x, name, {axis: -len(groups[0])})
    attributes = f"scatter_dimension = {axis} : i64, {_replicas(groups)}"
    return _op("reduce_scatter", x, made, attributes, _computation(op, x), channel=channel), made


def all_to_all(
    x: SsaValue, name: str, groups: Groups, channel: int, *, split_axis: int, concat_axis: int, tiled: bool
) -> TypedValue:
    """Return ``all_to_all``; raise ``Unsupported`` where the split dimension is to go and another to come."""
    _tiled("all_to_all", tiled)
    count = len(groups[0])
    made = _resized(x, name, {} if split_axis == concat_axis else {split_axis: -count, concat_axis: count})
    attributes = (
        f"split_dimension = {split_axis} : i64, concat_dimension = {concat_axis} : i64, split_count = {count} : i64, "
        f"{_replicas(groups)}"
    )
    return _op("all_to_all", x, made, attributes, channel=channel), made


def permute(x: SsaValue, name: str, groups: Groups, channel: int, *, pairs: Groups) -> TypedValue:
    """Return ``collective_permute`` of all groups together; raise ``Unsupported`` where a position is no process."""
    processes = [tuple(_member(group, position) for position in pair) for group in groups for pair in pairs]
    made = _resized(x, name, {})
    return _op("collective_permute", x, made, f"source_target_pairs = {_dense(processes, 2)}", channel=channel), made


def broadcast(x: SsaValue, name: str, groups: Groups, channel: int, *, root: int) -> TypedValue:
    """Return ``collective_broadcast``, whose source is the first process of a group.

    Raise ``Unsupported`` where the root is no process.
    """
    first = [(_member(group, root), *(rank for at, rank in enumerate(group) if at != root)) for group in groups]
    made = _resized(x, name, {})
    return _op("collective_broadcast", x, made, _replicas(tuple(first)), channel=channel), made


def _op(word: str, x: SsaValue, made: SsaValue, attributes: str, region: str = "", *, channel: int) -> str:
    if channel:
        attributes += f", channel_handle = #stablehlo.channel_handle<handle = {channel}, type = 1>"
        attributes += ", use_global_device_ids" * (word in FLATTENED)
    return f'{made.name} = "stablehlo.{word}"({x.name}) {region}{{{attributes}}} : ({x.type}) -> {made.type}'


def _computation(op: str, x: SsaValue) -> str:
    if op not in COMPUTATIONS:
        raise Unsupported(f"StableHLO has no operation {op!r} to reduce with; it has {', '.join(COMPUTATIONS)}")
    scalar = SsaValue("", x.dtype, ()).type
    return (
        f'({{ ^bb0(%a: {scalar}, %b: {scalar}): %c = "stablehlo.{COMPUTATIONS[op]}"(%a, %b) : ({scalar}, {scalar}) -> '
        f'{scalar} "stablehlo.return"(%c) : ({scalar}) -> () }}) '
    )


def _replicas(groups: Groups) -> str:
    """Return groups as the attribute has them: of unequal ones the shorter are filled up with -1."""
    longest = max(map(len, groups))
    return f"replica_groups = {_dense([(*group, *[-1] * (longest - len(group))) for group in groups], longest)}"


def _dense(rows: list[tuple[int, ...]], columns: int) -> str:
    values = str([list(row) for row in rows]) if rows else ""
    return f"dense<{values}> : {tensor_type('i64', (len(rows), columns))}"


def _resized(x: SsaValue, name: str, factors: Mapping[int, int]) -> SsaValue:
    """Return a value of the type of ``x``, some of its extents multiplied, or by a negative factor divided."""
    shape = list(x.shape)
    for axis, factor in factors.items():
        if 0 <= axis < len(shape):
            shape[axis] = shape[axis] * factor if factor > 0 else shape[axis] // -factor
    return SsaValue(name, x.dtype, tuple(shape))


def _member(group: tuple[int, ...], position: int) -> int:
    if not 0 <= position < len(group):
        raise Unsupported(f"StableHLO names processes; position {position} in a group of {len(group)} is none")
    return group[position]


def _tiled(word: str, tiled: bool) -> None:
    if not tiled:
        raise Unsupported(f"the result of StableHLO's {word} has as many dimensions as the operand")


COLLECTIVES: Final[dict[str, Callable[..., Any]]] = {
    function.__name__: function for function in (all_gather, all_reduce, reduce_scatter, all_to_all, permute, broadcast)
}
