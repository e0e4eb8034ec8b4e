"""What is started and waited for, and the order of collectives within a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from conformance.cases.schedule.schedule import Access, Collective, Kernel, Wait, accesses
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.judging.schedules.facts.kernels import movements
from conformance.judging.schedules.facts.last_writers import computed_by
from conformance.judging.schedules.facts.subjects import handled, is_wait, some_leaf, started
from conformance.reference.byte_ranges import overlap, without
from conformance.reference.schedule.facts import Facts


def waits_for(facts: Facts) -> Counter[str]:
    """Return how many items wait for each handle."""
    return Counter(leaf.handle for leaf in facts.leaves if isinstance(leaf, Wait))


def waited(facts: Facts) -> str | None:
    """Find a handle that nothing waits for, and that no later items are after, be it part by part."""
    waits = waits_for(facts)
    for handle, numbers in facts.handles.items():
        after = 0
        for number in range(numbers[-1] + 1, len(facts.leaves)):
            after |= facts.before[number]
        if not waits[handle] and not all(after >> number & 1 for number in numbers):
            leaf, owner = facts.owned[numbers[0]]
            return f"item {(owner or leaf).id!r} starts {handle!r}, and nothing waits for it"
    return None


def waited_once(facts: Facts) -> str | None:
    """Find a handle that is waited for twice."""
    for handle, count in waits_for(facts).items():
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


def in_place(facts: Facts, whole: Collective) -> list[tuple[int, int]]:
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
            yield from ((number, leaf.accesses[read]) for read, _ in in_place(facts, leaf))


def in_place_of_dead(facts: Facts) -> str | None:
    """Find a value that is read after a collective was done in its place.

    Who reads there later reads the result of the collective: what it computes depends on that. A read that is labelled
    says so itself, and of others it is told by the nodes that the reader computes.
    """
    told = True
    for number, access in _overwritten(facts):
        source = facts.touch(access)
        gone = source.ranges
        for later in range(number + 1, len(facts.leaves)):
            for touch in facts.touches[later]:
                if touch.write or touch.root != source.root or not overlap(touch.ranges, gone):
                    continue
                if touch.access.node is not None and source.access.node is not None:
                    if touch.access.node == source.access.node:
                        return f"{facts.name(later)} reads {touch.access.node!r}, which {facts.name(number)} overwrote"
                    continue
                met, own = computed_by(facts, number), computed_by(facts, later)
                if met and own and not any(_depends(facts, name, met) for name in own):
                    return (
                        f"{facts.name(later)} reads {touch.access.buffer!r} for {min(own)!r}, which "
                        f"{facts.name(number)} overwrote"
                    )
                told &= bool(met and own)
            for touch in facts.touches[later]:
                if touch.write and touch.root == source.root:
                    gone = without(gone, touch.ranges)
    return None if told else SILENT


def _depends(facts: Facts, name: str, others: frozenset[str]) -> bool:
    """Return whether a node is one of others, or is made of one."""
    seen, stack = set(), [name]
    while stack:
        at = stack.pop()
        if at in others:
            return True
        if at not in seen:
            seen.add(at)
            stack += facts.nodes[at].of
    return False


def _clones(facts: Facts) -> Iterator[tuple[int, int, str, str]]:
    """Yield what is, or may be, cloned for a collective in place: that, who clones, from where and to where."""
    for number, access in _overwritten(facts):
        for earlier, clone in enumerate(facts.leaves[:number]):
            for read, write in movements(clone) if isinstance(clone, Kernel) else ():
                if facts.home(write.buffer) == facts.home(access.buffer):
                    yield number, earlier, read.buffer, write.buffer


def _cloned(facts: Facts) -> bool:
    """Speak where something is known to be cloned for a collective in place."""
    return any(getattr(facts.leaves[earlier], "bodies", ()) for _, earlier, _, _ in _clones(facts))


def no_needless_clone(facts: Facts) -> str | None:
    """Find a value cloned for a collective in place, although nothing needs it afterwards.

    Say nothing beside a kernel without a body that may clone one.
    """
    told = True
    for number, earlier, source, target in _clones(facts):
        home = facts.buffers[facts.home(source)]
        kept = facts.is_given(home.id) or home.held or home.output or home.planned
        users = [n for n in range(earlier + 1, len(facts.leaves)) if _uses(facts, n, source)]
        if not kept and not users and facts.home(source) != facts.home(target):
            if getattr(facts.leaves[earlier], "bodies", ()):
                return f"{facts.name(earlier)} clones {source!r} for {facts.name(number)}; nothing else needs it"
            told = False
    return None if told else SILENT


def _uses(facts: Facts, number: int, buffer: str) -> bool:
    used = {facts.home(access.buffer) for access in accesses(facts.leaves[number])}
    placed = {facts.home(place.buffer) for place in facts.schedule.places}
    return facts.home(buffer) in used | placed


def entered(facts: Facts) -> dict[str, list[tuple[int, Collective]]]:
    """Return for each device the collectives that it enters with others, in turns that are known, by turn."""
    found: dict[str, list[tuple[int, Collective]]] = {}
    for item in facts.schedule.items:
        if isinstance(item, Collective) and item.turns is not None and len(item.participants) > 1:
            for device, turn in zip(item.participants, item.turns, strict=True):
                found.setdefault(device, []).append((turn, item))
    return {device: sorted(entered, key=lambda each: each[0]) for device, entered in found.items()}


def _held_up(facts: Facts) -> dict[str, dict[str, str]]:
    """Return for each collective those that some device enters only after it, each with the first such device.

    Within a group the order in which they are entered tells which is which. What is only started holds up no
    collective of another group, and neither does what has the same turn.
    """
    found: dict[str, dict[str, str]] = {}
    for device, own in entered(facts).items():
        for (turn, first), (other, second) in combinations(own, 2):
            if turn != other and (first.group == second.group or first.handle is None):
                found.setdefault(first.id, {}).setdefault(second.id, device)
    return found


def _unturned(facts: Facts) -> bool:
    """Return whether a device that enters collectives in known turns enters another one in a turn that nobody tells."""
    known = entered(facts)
    others = (item for item in facts.schedule.items if isinstance(item, Collective) and item.turns is None)
    return any(len(item.participants) > 1 and any(each in known for each in item.participants) for item in others)


def one_order(facts: Facts) -> str | None:
    """Find collectives that wait for each other, of one group or of several: two, or a longer cycle."""
    after = _held_up(facts)
    for start in after:
        path, stack, seen = [start], [iter(after[start])], {start}
        while stack:
            following = next(stack[-1], None)
            if following is None:
                stack.pop()
                path.pop()
            elif following == start:
                pairs = zip(path, [*path[1:], start], strict=True)
                turns = ", ".join(f"{after[one][other]} enters {one!r} before {other!r}" for one, other in pairs)
                return f"participants enter collectives in different orders: {turns}"
            elif following not in seen:
                seen.add(following)
                path.append(following)
                stack.append(iter(after.get(following, ())))
    return SILENT if _unturned(facts) else None


WAITS = (
    ScheduleClause(
        "waits.C1",
        "Every started item is waited for, by a wait for its handle or by an edge from it to a later item.",
        "torch.inductor.comm_lowering: _wait_tensor",
        waited,
        handled,
        requirement="should",
    ),
    ScheduleClause(
        "waits.C2",
        "Every started item has one wait at most for its handle.",
        "torch.inductor.comm_lowering: should_skip_wait",
        waited_once,
        some_leaf(is_wait),
        "should",
    ),
    ScheduleClause(
        "waits.C3",
        "No item reads what an earlier started item writes, unless it begins after the earlier one is done: by "
        "edges from that one or from a wait for it, or, where it lists no edges, by a wait listed between.",
        "torch.inductor.comm_lowering: _wait_tensor",
        read_after_wait,
        started(write=True),
    ),
    ScheduleClause(
        "waits.C4",
        "No item writes what an earlier started item reads or writes, unless it begins after the earlier one is "
        "done: by edges from that one or from a wait for it, or, where it lists no edges, by a wait listed "
        "between.",
        "torch.inductor.comm_lowering: _wait_tensor",
        written_after_wait,
        started(write=False),
    ),
    ScheduleClause(
        "waits.C5",
        "A collective writes over bytes that it reads only where no later item reads the value that was there before.",
        "torch.inductor.comm_lowering: _all_reduce",
        in_place_of_dead,
        lambda facts: any(_overwritten(facts)),
    ),
    ScheduleClause(
        "waits.C6",
        "No kernel only moves a value to another buffer for a collective to overwrite it there, unless the buffer "
        "that the value was in held data before the schedule, is planned, is reachable from outside, is used by "
        "another item afterwards, or holds a result.",
        "torch.inductor.comm_lowering: _all_reduce",
        no_needless_clone,
        _cloned,
        requirement="should",
    ),
    ScheduleClause(
        "waits.C7",
        "All participants enter the collectives of one communicator in one order, and those of several "
        "communicators in orders in which no circle of collectives waits for one another. A collective that is "
        "only started holds up none of another communicator.",
        "torch.inductor.comm_lowering: NOTE, lowering-time collective optimization",
        one_order,
        lambda facts: any(len(entered) > 1 for entered in entered(facts).values()),
    ),
)
