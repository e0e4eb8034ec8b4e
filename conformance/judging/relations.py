"""Laws between results, for which no expected value is needed: equal columns in, equal values out.

The *column* of an element of a result is what all members, in member order, hold at its place. Two elements with
equal columns may lie at different places of a block, in blocks of different size, on different ranks, or come from
different steps. Each law says that one such difference makes none in the bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.observation import Observation
from conformance.cases.program.program import Groups, Step, rank_groups
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.judging.numbers.order import folds
from conformance.judging.numbers.trees import one_nan
from conformance.reference.operations import OPERATIONS, PARTS
from conformance.reference.reductions import ARITHMETIC
from conformance.reference.spmd import check_step

LAWS: Final[dict[Guarantee, tuple[str, tuple[str, ...]]]] = {
    "ranks_agree": ("receiver", ("step", "operand", "members", "place")),
    "size": ("shape", ("column", "listing", "members", "company", "receiver")),
    "position": ("place", ("column", "shape", "listing", "members", "company", "receiver")),
    "rank_relabelling": ("members", ("blocks", "company", "receiver", "place")),
    "group_relabelling": ("listing", ("blocks", "company", "members", "receiver", "place")),
    "coalescing": ("beside", ("blocks", "listing", "members", "receiver", "place")),
    "history": ("stretch", ("call", "operand", "members", "receiver", "place")),
    "run_to_run": ("step", ("call", "operand", "stretch", "members", "receiver", "place")),
}
"""For each guarantee what differs between two elements that must be equal, and what does not."""

WIDEST: Final = 16
"""Bytes of the widest element there is."""

FACTS: Final = (
    "column", "blocks", "step", "operand", "call", "stretch", "listing", "members", "company", "beside", "receiver",
    "shape", "place",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """Where elements of the table come from: a result on a rank, as many elements as its block has."""

    result: str
    rank: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Elements:
    """Every element that the folding steps of one operation give, on every rank that receives it, in a table.

    ``facts`` has a column of numbers for each of ``FACTS``, equal where the fact is. ``blocks`` are the columns at all
    places of a block, with its shape. ``call`` is a step's operation and all it is given, ``stretch`` a row of equal
    calls with nothing between them; ``listing`` are all groups, ``members`` those of one; ``company`` dtypes and shapes
    of the operands beside this one, ``beside`` their blocks; ``receiver`` the position that receives, where several
    receive the same; ``place`` the place in the block.
    """

    sources: tuple[Source, ...]
    facts: dict[str, Array]

    def compares(self, law: Guarantee) -> bool:
        """Return whether two elements differ in what makes no difference by ``law``, and in nothing else."""
        keys, varying = self._keyed(law)
        return bool(_differ(keys, varying).any())

    def fits(self, seen: Observation) -> bool:
        """Return whether every result has its shape: else there is nothing to compare."""
        given = [(source, seen.results[source.result][source.rank]) for source in self.sources]
        return all(tensor is not None and tensor.shape == source.shape for source, tensor in given)

    def broken(self, law: Guarantee, seen: Observation) -> str | None:
        """Return two elements that are not equal although ``law`` says so, or ``None``; ``fits`` must hold."""
        bits: list[Array] = []
        for source in self.sources:
            tensor = seen.results[source.result][source.rank]
            assert tensor is not None
            bits.append(_bits(tensor))
        keys, varying = self._keyed(law)
        rows = np.flatnonzero(self._told(law))
        values = np.unique(np.concatenate(bits), return_inverse=True)[1].reshape(-1)[rows]
        suspects = np.flatnonzero(_differ(keys, varying) & _differ(keys, values))
        if not suspects.size:
            return None
        first = suspects[0]
        others = np.flatnonzero((keys == keys[first]) & (values != values[first]))
        apart = others[varying[others] != varying[first]]
        return self._both(int(rows[first]), int(rows[apart[0] if apart.size else others[0]]), seen)

    def _keyed(self, law: Guarantee) -> tuple[Array, Array]:
        """Return, for each element ``law`` compares, one number for all that must be alike, and what may differ."""
        rows = self._told(law)
        differing, alike = LAWS[law]
        return _combined([self.facts[name][rows] for name in alike]), self.facts[differing][rows]

    def _told(self, law: Guarantee) -> Array:
        """Return which elements ``law`` compares: of a stretch, history only counts the first step."""
        if law != "history":
            return np.ones(len(self.facts["step"]), bool)
        firsts = [np.min(self.facts["step"][self.facts["stretch"] == s]) for s in np.unique(self.facts["stretch"])]
        return np.isin(self.facts["step"], firsts)

    def _both(self, one: int, other: int, seen: Observation) -> str:
        return f"{self._shown(one, seen)} but {self._shown(other, seen)}, of equal columns"

    def _shown(self, row: int, seen: Observation) -> str:
        for source in self.sources:
            size = int(np.prod(source.shape))
            if row < size:
                break
            row -= size
        tensor = seen.results[source.result][source.rank]
        assert tensor is not None
        element = to_array(tensor).reshape(-1)[row : row + 1]
        where = [int(index) for index in np.unravel_index(row, source.shape)]
        return f"{source.result}{where} on rank {source.rank} is {element[0]} (0x{element.tobytes()[::-1].hex()})"


def elements(case: Case, op: str) -> Elements:
    """Return the table of the steps of a legal case whose operation is ``op``, unless it folds parts of groups.

    The members of such a part differ from rank to rank, so that equal columns say nothing.
    """
    numbers = _Numbers()
    sources: list[Source] = []
    facts: dict[str, list[Array]] = {name: [] for name in FACTS}
    blocks = case.blocks()
    stretch, before = -1, None
    told = [step for step in folds(case) if step.op == op and op not in PARTS]
    for index, step in enumerate(case.program.steps):
        given = tuple(case.inputs.get(name, name) for name in step.inputs)
        call = (step.op, step.groups, step.axes, str(step.attrs), given)
        stretch += call != before
        before = call
        if step not in told:
            continue
        groups = rank_groups(case.program.mesh, step.axes, step.groups)
        for at, (name, target) in enumerate(zip(step.inputs, step.outputs, strict=True)):
            if target not in case.program.results:
                continue
            columns = _columns(blocks[name], step, groups, numbers)
            places = _places(step, groups, case.inputs[name].blocks[0].shape, case.program.world)
            for rank, place in enumerate(places):
                if place is None:
                    continue
                group = next(group for group in groups if rank in group)
                sources.append(Source(target, rank, place.shape))
                flat = place.reshape(-1)
                one: dict[str, Any] = {
                    "step": index,
                    "operand": at,
                    "call": numbers.of("call", call),
                    "stretch": stretch,
                    "listing": numbers.of("listing", groups),
                    "members": numbers.of("members", group),
                    "company": numbers.of("company", (at, _company(case, step, at))),
                    "beside": numbers.of("beside", (at, _beside(case, step, at))),
                    "receiver": group.index(rank) if step.op == "all_reduce" else 0,
                    "blocks": numbers.of("blocks", (case.inputs[name].blocks[0].shape, columns[group].tobytes())),
                    "shape": numbers.of("shape", case.inputs[name].blocks[0].shape),
                }
                for fact, number in one.items():
                    facts[fact].append(np.full(flat.size, number, np.int64))
                facts["place"].append(flat)
                facts["column"].append(columns[group][flat])
    empty = [np.empty(0, np.int64)]
    return Elements(tuple(sources), {name: np.concatenate(found or empty) for name, found in facts.items()})


def received(case: Case) -> dict[str, Groups]:
    """Return the results that all_reduces of ``Elements`` leave out give, each with groups whose members receive one.

    Those are of local axes, started, or of what was computed; nobody writes over them.
    """
    plain = {name for step in folds(case) for name in step.outputs}
    found: dict[str, Groups] = {}
    for step in case.program.steps:
        if step.op == "all_reduce" and step.axes and not step.into and step.ranks is None:
            groups = rank_groups(case.program.mesh, step.axes, step.groups)
            found |= dict.fromkeys(step.outputs, groups) if step.attrs.get("op") in ARITHMETIC else {}
        elif step.op == "done":
            pairs = zip(step.inputs, step.outputs, strict=True)
            found |= {result: found[ticket] for ticket, result in pairs if ticket in found}
    return {name: found[name] for name in case.program.results if name in found and name not in plain}


def apart(received: Mapping[str, Groups], seen: Observation) -> str | None:
    """Return two members of a group that hold other bits of one result, every NaN counting as the same."""
    for name, groups in received.items():
        for group in groups:
            held = [(rank, tensor) for rank in group if (tensor := seen.results[name][rank]) is not None]
            for rank, tensor in held[1:]:
                first, one = held[0]
                if tensor.shape == one.shape and (_bits(tensor) != _bits(one)).any():
                    return f"{name} on rank {rank} has other bits than on rank {first}, of one group"
    return None


class _Numbers:
    """Gives equal things one number."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: dict[Hashable, int] = {}

    def of(self, what: str, thing: Hashable) -> int:
        """Return the number of ``thing`` among things of one sort."""
        return self._known.setdefault((what, thing), len(self._known))


def _columns(blocks: list[Array], step: Step, groups: Groups, numbers: _Numbers) -> dict[tuple[int, ...], Array]:
    """Return for each group the numbers of the columns of its blocks, place by place."""
    found = {}
    for group in groups:
        stacked = np.stack([blocks[rank].reshape(-1) for rank in group], axis=1)
        kind = (step.op, str(sorted(step.attrs.items())), str(stacked.dtype), len(group))
        width = stacked.dtype.itemsize * len(group)
        content = stacked.tobytes()
        # To sort the columns, as NumPy does to tell them apart, took 14 times as long.
        columns = (content[at : at + width] for at in range(0, len(content), width))
        found[group] = np.fromiter((numbers.of("column", (kind, column)) for column in columns), np.int64)
    return found


def _places(step: Step, groups: Groups, shape: tuple[int, ...], world: int) -> list[Array | None]:
    """Return for each rank, in the shape of its result, the place in the block that each element comes from.

    The oracle itself says so: it is given the places as values, the same on every rank, to take the maximum of.
    """
    places = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    attrs = {**check_step(step), "op": "max"}
    found: list[Array | None] = OPERATIONS[step.op]([places] * world, **attrs, groups=groups)
    return found


def _company(case: Case, step: Step, at: int) -> tuple[Hashable, ...]:
    """Return dtype and shape of the operands beside the one ``at``."""

    def kind(operand: Operand) -> Hashable:
        return operand.blocks[0].dtype, operand.blocks[0].shape

    return tuple(kind(case.inputs[name]) for other, name in enumerate(step.inputs) if other != at)


def _beside(case: Case, step: Step, at: int) -> tuple[Hashable, ...]:
    """Return the blocks of the operands beside the one ``at``."""
    return tuple(case.inputs[name].blocks for other, name in enumerate(step.inputs) if other != at)


def _combined(columns: list[Array]) -> Array:
    """Return one number a row, equal where all ``columns`` are."""
    combined = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if not column.size or (column == column[0]).all():
            continue  # what all rows have tells none apart, and to sort it is most of the work
        different, numbered = np.unique(column, return_inverse=True)
        combined = np.unique(combined * len(different) + numbered.reshape(-1), return_inverse=True)[1].reshape(-1)
    return combined


def _differ(keys: Array, values: Array) -> Array:
    """Return which rows share their key with a row of another value."""
    if not keys.size:
        return np.zeros(0, bool)
    least = np.full(int(keys.max()) + 1, np.iinfo(np.int64).max)
    most = np.full(int(keys.max()) + 1, np.iinfo(np.int64).min)
    np.minimum.at(least, keys, values)
    np.maximum.at(most, keys, values)
    return np.asarray((least != most)[keys])


def _bits(tensor: Tensor) -> Array:
    """Return one fixed-width word an element; every NaN is one, for arithmetic makes a NaN, not a particular one.

    That is so in each part of a complex number.
    """
    array = one_nan(to_array(tensor).reshape(-1))
    words = np.zeros((array.size, WIDEST), np.uint8)
    words[:, : array.dtype.itemsize] = array.view(np.uint8).reshape(-1, array.dtype.itemsize)
    return words.view(f"S{WIDEST}").reshape(-1)
