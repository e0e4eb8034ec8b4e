"""What is started and waited for, and the order of collectives within a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from conformance.cases.kernel_body import Load, Store
from conformance.cases.schedule import Access, Collective, Kernel, Wait, accesses
from conformance.judging.schedule_clause import ScheduleClause
from conformance.reference.byte_ranges import overlap, without
from conformance.reference.schedule_facts import Facts
from conformance.specs.schedules.subjects import handled, is_wait, some_leaf, started


def _waits(facts: Facts) -> Counter[str]:
    return Counter(leaf.handle for leaf in facts.leaves if isinstance(leaf, Wait))


def waited(facts: Facts) -> str | None:
    """Find a handle that nothing waits for, and that no later item is after."""
    waits = _waits(facts)
    named = {name for leaf in facts.leaves for name in leaf.after or ()}
    for handle, numbers in facts.handles.items():
        leaf, owner = facts.owned[numbers[0]]
        if not waits[handle] and (owner or leaf).id not in named:
            return f"item {(owner or leaf).id!r} starts {handle!r}, and nothing waits for it"
    return None


def waited_once(facts: Facts) -> str | None:
    """Find a handle that is waited for twice."""
    for handle, count in _waits(facts).items():
        if count > 1:
            return f"{count} items wait for {handle!r}; one does"
    return None


def _pending(facts: Facts, *, written: bool) -> str | None:
    for first, second, _, own in facts.conflicts:
        if first in facts.started and own.write == written and not facts.ordered(first, second):
            verb = "writes" if written else "reads"
            return f"{facts.name(second)} {verb} {own.access.buffer!r} while {facts.name(first)} may be under way"
    return None


def read_after_wait(facts: Facts) -> str | None:
    """Find a read of what is still being written."""
    return _pending(facts, written=False)


def written_after_wait(facts: Facts) -> str | None:
    """Find a write to what is still being read or written."""
    return _pending(facts, written=True)


def _in_place(facts: Facts, whole: Collective) -> list[tuple[int, int]]:
    """Return the pairs of a read and a write of an opaque collective that share bytes."""
    touches = [facts.touch(access) for access in whole.accesses]
    return [
        (one, two)
        for one, read in enumerate(touches)
        for two, written in enumerate(touches)
        if written.write and not read.write and read.root == written.root and overlap(read.ranges, written.ranges)
    ]


def _overwritten(facts: Facts) -> Iterator[tuple[int, Access]]:
    """Yield the opaque collectives that write what they read, each with those reads."""
    for number, leaf in enumerate(facts.leaves):
        if isinstance(leaf, Collective):
            yield from ((number, leaf.accesses[read]) for read, _ in _in_place(facts, leaf))


def in_place_of_dead(facts: Facts) -> str | None:
    """Find a value that is read after a collective was done in its place."""
    for number, access in _overwritten(facts):
        source = facts.touch(access)
        gone = source.ranges
        for later in range(number + 1, len(facts.leaves)):
            for touch in facts.touches[later]:
                same = touch.access.node is not None and touch.access.node == source.access.node
                if not touch.write and same and overlap(touch.ranges, gone) and touch.root == source.root:
                    return f"{facts.name(later)} reads {touch.access.node!r}, which {facts.name(number)} overwrote"
            for touch in facts.touches[later]:
                if touch.write and touch.root == source.root:
                    gone = without(gone, touch.ranges)
    return None


def moves_only(leaf: Kernel) -> bool:
    """Return whether a kernel is known to move a value and nothing else."""
    kinds = [type(each) for body in leaf.bodies for each in body.instructions]
    return len(leaf.bodies) == 1 and kinds == [Load, Store]


def _clones(facts: Facts) -> Iterator[tuple[int, int, str, str]]:
    """Yield what is cloned for a collective in place: the collective, who clones for it, from where and to where."""
    for number, access in _overwritten(facts):
        for earlier in range(number):
            clone = facts.leaves[earlier]
            if isinstance(clone, Kernel) and moves_only(clone) and clone.accesses[-1].buffer == access.buffer:
                yield number, earlier, clone.accesses[0].buffer, access.buffer


def no_needless_clone(facts: Facts) -> str | None:
    """Find a value cloned for a collective in place, although nothing needs it afterwards."""
    for number, earlier, source, target in _clones(facts):
        home = facts.buffers[facts.home(source)]
        kept = facts.is_given(home.id) or home.held or home.output or home.planned
        users = [n for n in range(earlier + 1, len(facts.leaves)) if _uses(facts, n, source)]
        if not kept and not users and facts.home(source) != facts.home(target):
            return f"{facts.name(earlier)} clones {source!r} for {facts.name(number)}; nothing else needs it"
    return None


def _uses(facts: Facts, number: int, buffer: str) -> bool:
    used = {facts.home(access.buffer) for access in accesses(facts.leaves[number])}
    placed = {facts.home(place.buffer) for place in facts.schedule.places}
    return facts.home(buffer) in used | placed


def _met_again(facts: Facts) -> Iterator[tuple[Collective, Collective, list[str]]]:
    """Yield the pairs of collectives of a group that several devices enter, in turns that are known."""
    groups: dict[str, list[Collective]] = {}
    for item in facts.schedule.items:
        if isinstance(item, Collective) and item.turns is not None:
            groups.setdefault(item.group, []).append(item)
    for first, second in (pair for members in groups.values() for pair in combinations(members, 2)):
        both = [device for device in first.participants if device in second.participants]
        if len(both) > 1:
            yield first, second, both


def one_order(facts: Facts) -> str | None:
    """Find two collectives of a group that participants entered in different orders."""
    for first, second, both in _met_again(facts):
        mine = dict(zip(first.participants, first.turns or (), strict=True))
        theirs = dict(zip(second.participants, second.turns or (), strict=True))
        late = next((d for d in both if (mine[d] < theirs[d]) != (mine[both[0]] < theirs[both[0]])), None)
        if late is not None:
            return (
                f"{late} enters {first.id!r} and {second.id!r} of group {first.group!r} in another order than {both[0]}"
            )
    return None


WAITS = (
    ScheduleClause("waits.C1", "What is started is waited for.", "002", waited, handled),
    ScheduleClause("waits.C2", "What is started is waited for once.", "002", waited_once, some_leaf(is_wait)),
    ScheduleClause(
        "waits.C3",
        "Nothing reads what a started item writes before it is waited for.",
        "002",
        read_after_wait,
        started(write=True),
    ),
    ScheduleClause(
        "waits.C4",
        "Nothing writes what a started item reads or writes before it is waited for.",
        "002",
        written_after_wait,
        started(write=False),
    ),
    ScheduleClause(
        "waits.C5",
        "A collective is done in place only where nothing reads the old value afterwards.",
        "002",
        in_place_of_dead,
        lambda facts: any(access.node is not None for _, access in _overwritten(facts)),
    ),
    ScheduleClause(
        "waits.C6",
        "No value is cloned for a collective in place when nothing else needs it.",
        "002",
        no_needless_clone,
        lambda facts: any(_clones(facts)),
        requirement="should",
    ),
    ScheduleClause(
        "waits.C7",
        "All participants enter the collectives of a group in one order.",
        "002",
        one_order,
        lambda facts: any(_met_again(facts)),
    ),
)
