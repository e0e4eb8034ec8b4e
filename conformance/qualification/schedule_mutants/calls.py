"""Mistakes with how collectives are called: of how many operands, on which layouts, and with which waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.index_map import Affine, IndexMap, contiguous
from conformance.cases.schedule.kernel_body import Body, Load, Store
from conformance.cases.schedule.schedule import Access, Collective, Item, Kernel, Schedule, Wait, accesses
from conformance.cases.tensor.dtypes import NUMPY
from conformance.qualification.legal_schedules.engine import inner, wholly
from conformance.qualification.schedule_changes import each_access, each_leaf
from conformance.qualification.schedule_mutants.engine import Exported, OfGraphs
from conformance.reference.schedule.facts import Facts


def _called(made: Schedule) -> list[Collective]:
    return [each for each in made.items if isinstance(each, Collective) and len(each.participants) > 1]


def _alone(made: Schedule) -> Iterator[tuple[Kernel, Collective, Access]]:
    """Yield who computes all of an operand that nobody else uses, the collective that reads it, and its access."""
    hidden = inner(made)
    for item in _called(made):
        for access in item.accesses:
            if access.write or access.buffer not in hidden:
                continue
            users = [each for each in made.items if any(own.buffer == access.buffer for own in accesses(each))]
            first = users[0]
            if len(users) == 2 and isinstance(first, Kernel) and wholly(first, hidden[access.buffer]):
                yield first, item, access


class LoweredOperandByOperand(OfGraphs):
    """A collective of several operands is lowered for each by itself, and called as often."""

    breaks = "communication.C17"

    def spoil(self, made: Schedule) -> Schedule:
        """Say of collectives that are alike that they do one step, in calls of their own."""
        first: dict[tuple[object, ...], int] = {}
        steps = {
            each.id: first.setdefault((each.op, str(each.attrs), each.participants, each.group), number)
            for number, each in enumerate(_called(made))
        }
        items = (
            replace(e, steps=(steps[e.id],)) if e.id in steps and isinstance(e, Collective) else e for e in made.items
        )
        return replace(made, items=tuple(items))


class CopyIsFusedWithWhatEndsLate(Exported):
    """The copy for an early collective is fused with a kernel that computes more, and is there when that ends."""

    breaks = "communication.C18"

    def spoil(self, made: Schedule) -> Schedule:
        """Say of what collectives read that it is not to be fused, though kernels write several."""
        read = {
            access.buffer
            for item in made.items
            if isinstance(item, Collective)
            for part in (item.parts or (item,))
            for access in part.accesses
            if not access.write
        }
        buffers = (replace(each, unfused=True) if each.id in read else each for each in made.buffers)
        return replace(made, buffers=tuple(buffers))


class LaidOutAnewAfterTracing(OfGraphs):
    """A pass turns the layout of a value round for its producer, and the collective is called with what it finds."""

    breaks = "communication.C19"

    def spoil(self, made: Schedule) -> Schedule:
        """Store matrices for collectives by columns, which were in rows when the program was traced."""
        turned: dict[str, Affine] = {}
        for kernel, _, access in _alone(made):
            rows = next((own.map for own in kernel.accesses if own.write), None)
            if rows is not None and access.map in (None, rows) and _is_in_rows(rows):
                turned[access.buffer] = rows[0]

        def by_columns(access: Access) -> Access:
            if access.buffer not in turned:
                return access
            rows = turned[access.buffer]
            found = replace(access, map=(replace(rows, strides=(1, rows.extents[0])),))
            return found if access.write else replace(found, traced=rows.strides)

        return each_access(made, by_columns)


def _is_in_rows(lies: IndexMap) -> bool:
    """Return whether a map is one of a matrix, of more than a row and a column, that lies in rows."""
    extents = lies[0].extents
    return len(extents) == 2 and 1 not in extents and lies == contiguous(extents)  # type: ignore[arg-type]  # numbers


class SumsOverTheGapsOfRows(OfGraphs):
    """A sum is done in place of every second element of a storage, and the library adds up all that lies between."""

    breaks = "communication.C20"

    def spoil(self, made: Schedule) -> Schedule:
        """Do what is summed in place, with gaps, and move it to where it is wanted afterwards."""
        sums = [each for each in _called(made) if each.op == "all_reduce"]
        own = {access.buffer: item.id for _, item, access in _alone(made) if item in sums and access.map is None}
        whole = [each for each in sums if sum(name == each.id for name in own.values()) == len(each.participants)]
        for item in whole:
            made = _with_gaps(made, item)
        return made


def _with_gaps(made: Schedule, item: Collective) -> Schedule:
    count = len(item.participants)
    known = {each.id: each for each in made.buffers}
    operands, results = item.accesses[:count], item.accesses[count:]
    size = known[operands[0].buffer].size // NUMPY[known[operands[0].buffer].dtype].itemsize
    apart, row = (Affine(extents=(size,), strides=(2,)),), (Affine(extents=(size,), strides=(1,)),)
    wide = {each.buffer for each in operands}
    moves: list[Item] = [
        Kernel(
            id=f"{item.id} moved on {known[to.buffer].device}",
            device=known[to.buffer].device,
            accesses=(Access(buffer=of.buffer, map=apart), replace(to, map=row)),
            bodies=(Body(extents=(size,), instructions=(Load(access=0), Store(access=1, of=0))),),
            provenance=(to.node,),
        )
        for of, to in zip(operands, results, strict=True)
        if to.node is not None
    ]
    own = (replace(each, map=apart, write=write) for write in (False, True) for each in operands)
    gapped = each_leaf(made, lambda leaf: replace(leaf, accesses=tuple(map(_widened(wide), leaf.accesses))))
    items: list[Item] = []
    for each in gapped.items:
        items += [replace(item, accesses=tuple(own)), *moves] if each.id == item.id else [each]
    buffers = (replace(each, size=2 * each.size) if each.id in wide else each for each in made.buffers)
    return replace(made, items=tuple(items), buffers=tuple(buffers))


def _widened(names: set[str]) -> Callable[[Access], Access]:
    """Return what leaves a gap behind each element that is used of some buffers."""

    def changed(access: Access) -> Access:
        if access.buffer not in names or access.map is None:
            return access
        *first, last = access.map
        strides = tuple(2 * each for each in last.strides)
        return replace(access, map=(*first, replace(last, strides=strides, offset=2 * last.offset)))

    return changed


class WaitsKeptByAddress(Exported):
    """Which waits are left out is kept by the address of a program, at which another one lies later."""

    breaks = "communication.C21"

    def __init__(self) -> None:
        """Know of no program."""
        super().__init__()
        self._programs: dict[object, object] = {}

    def spoil(self, made: Schedule) -> Schedule:
        """Return it as it is: the mistake is in later programs."""
        return made

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Leave out the waits of a program with the inputs of another one."""
        made = super().schedule(asked, planned=planned)
        if isinstance(asked, Graph):
            return made
        known = self._programs.setdefault(str(asked.inputs), asked.program.steps)
        return made if known == asked.program.steps else self.later(made)

    def later(self, made: Schedule) -> Schedule:
        """Return the schedule of a later program with the mistake."""
        return _without_waits(made)


class WaitsOfOtherQueuesAreLost(WaitsKeptByAddress):
    """What is left out by the address of a program is the waits of other queues: the own one comes later anyway."""

    def later(self, made: Schedule) -> Schedule:
        """Leave out the items that wait."""
        gone = {item.id for item in made.items if isinstance(item, Wait)}
        kept = replace(made, items=tuple(item for item in made.items if item.id not in gone))
        return each_leaf(
            kept, lambda leaf: replace(leaf, after=tuple(name for name in leaf.after or () if name not in gone))
        )


def _without_waits(made: Schedule) -> Schedule:
    """Return the schedule in which nobody waits for what is started, by a wait or by coming after it."""
    facts = Facts(made)
    started = {(owner or leaf).id for leaf, owner in (facts.owned[n] for e in facts.handles.values() for n in e)}
    gone = started | {item.id for item in made.items if isinstance(item, Wait)}
    kept = replace(made, items=tuple(item for item in made.items if not isinstance(item, Wait)))
    return each_leaf(
        kept, lambda leaf: replace(leaf, after=tuple(name for name in leaf.after or () if name not in gone))
    )
