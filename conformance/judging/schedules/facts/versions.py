"""Which version of a buffer an item reads, and which one the program says: the value before an assign or after it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.schedule.index_map import Indices
from conformance.judging.clause import SILENT
from conformance.judging.schedules.facts.computed import perhaps_computing
from conformance.judging.schedules.facts.labels import unlabelled
from conformance.reference.byte_ranges import common, overlap, without
from conformance.reference.schedule.facts import Facts, Touch


def assigning(facts: Facts) -> Iterator[tuple[Node, int, Touch]]:
    """Yield the assigns with the items that write them; a write of no byte does none that has an element."""
    for name, written in facts.writers.items():
        if facts.nodes[name].op == "assign":
            nothing = not len(facts.node_bytes(name)[1])
            yield from ((facts.nodes[name], number, each) for number, each in written if nothing or len(each.ranges))


def repeated(facts: Facts, first: Node, second: Node) -> bool:
    """Return whether an assign is another one once more, of a value and to a target that have not changed since."""
    if first.id == second.id or first.of != second.of:
        return False
    root, target = facts.node_bytes(first.id)
    for by, stored in facts.assigned:
        if facts.program[first.id] <= facts.program[by] < facts.program[second.id]:
            other, ranges = facts.stored_bytes(stored)
            if facts.nodes[by].of != first.of and other == root and overlap(ranges, target):
                return False
            home, value = facts.node_bytes(first.of[1]) if first.of[1] in facts.stored else (root, ranges[:0])
            if other == home and overlap(ranges, value):
                return False
    return facts.program[first.id] < facts.program[second.id]


def _known(facts: Facts, name: str, assign: Node) -> bool:
    """Return whether an assign makes no new version for a node, which comes after the same one."""
    earlier = (node for node in facts.assigns[assign.of] if facts.program[node.id] < facts.program[name])
    return any(repeated(facts, node, assign) for node in earlier)


def _reads(facts: Facts, name: str, number: int) -> Iterator[tuple[Touch, Indices]]:
    """Yield what a leaf reads of the storage that a node takes its sources from, and which bytes are the sources'."""
    node = facts.nodes[name]
    # Movement of storage is a name of it, and reads nothing: who uses the name does.
    sources = node.of[1:] if node.op == "assign" else () if name in facts.stored else node.of
    for source in (each for each in sources if each in facts.stored):
        home, (_, ranges) = facts.home(facts.stored[source].buffer), facts.node_bytes(source)
        for touch in facts.touches[number]:
            if not touch.write and facts.home(touch.access.buffer) == home and overlap(touch.ranges, ranges):
                yield touch, common(touch.ranges, ranges)


_Assigning = Mapping[str, Sequence[tuple[Node, int, Touch]]]
"""By whose bytes they are written: assigns, each with the number of a leaf that does it, and what that writes."""


def _wrong(
    facts: Facts, name: str, number: int, touch: Touch, ranges: Indices, done: _Assigning
) -> Iterator[tuple[Node, int, Indices]]:
    """Yield the assigns that come on the other side of a read than in the program, who does them, and what is wrong."""
    for assign, writer, written in done.get(facts.home(touch.access.buffer), ()):
        turned = (facts.program[name] < facts.program[assign.id]) == (number > writer)
        if not turned or name == assign.id or number == writer or not overlap(ranges, written.ranges):
            continue
        if number < writer or not _known(facts, name, assign):
            yield assign, writer, common(ranges, written.ranges)


def _for_another(facts: Facts, name: str, number: int, touch: Touch, wrong: Indices) -> bool:
    """Return whether other nodes that the leaf computes read all these bytes as they should, in this version."""
    for other in facts.leaves[number].provenance:
        for read, ranges in _reads(facts, other, number) if other != name else ():
            right = ranges if read is touch else ranges[:0]
            for _, _, bad in _wrong(facts, other, number, read, right, facts.assigning):
                right = without(right, bad)
            wrong = without(wrong, right)
    return not len(wrong)


def _otherwise(facts: Facts, name: str, number: int, touch: Touch, wrong: Indices) -> bool:
    """Return whether the leaf can have the version that a node reads from elsewhere than these bytes.

    It may have been kept in what else the leaf reads, be a constant, or be made anew by the leaf itself. Which load is
    for which node a body does not tell: whether the values are right is for ``law.C1`` to say.
    """
    home = facts.home(touch.access.buffer)
    for each in (each for each in facts.touches[number] if not each.write):
        if facts.home(each.access.buffer) != home or not overlap(each.ranges, wrong):
            return True
    for node in list(facts.nodes.values())[: facts.program[name]]:
        if node.op == "assign" and facts.home(facts.stored[node.id].buffer) == home:
            value = facts.nodes[node.of[1]]
            while value.op in MOVEMENT:
                value = facts.nodes[value.of[0]]
            if overlap(facts.node_bytes(node.id)[1], wrong) and (
                value.id in facts.constants or value.id in facts.leaves[number].provenance
            ):
                return True
    return False


def meeting(facts: Facts, *, earlier: bool) -> bool:
    """Speak of nodes that read what is assigned to, where both are labelled and the assign is later, or ``earlier``."""
    return any(
        earlier == (facts.program[assign.id] < facts.program[name])
        and assign.id != name
        and overlap(ranges, written.ranges)
        for name, numbers in (facts.computing.items() if facts.assigning else ())
        for number in numbers
        for touch, ranges in _reads(facts, name, number)
        for assign, _, written in facts.assigning.get(facts.home(touch.access.buffer), ())
    )


def crossed(facts: Facts, *, earlier: bool) -> str | None:
    """Find a node read after an assign that is later in the program; or before one that is ``earlier`` there.

    Say nothing where a kernel that does not say what it computes may read so, or a write without a label be the assign.
    """
    problem = _crossed(facts, facts.computing, facts.assigning, earlier=earlier)
    if problem is None:
        untold, nameless = perhaps_computing(facts), _perhaps_assigning(facts)
        ways = ((untold, facts.assigning), (untold, nameless), (facts.computing, nameless))
        return SILENT if any(_crossed(facts, *each, earlier=earlier) for each in ways) else None
    return problem


def _perhaps_assigning(facts: Facts) -> _Assigning:
    """Return the writes without a label in the target of an assign that nobody is said to do."""
    found: dict[str, list[tuple[Node, int, Touch]]] = {}
    left = [node for node in facts.nodes.values() if node.op == "assign" and node.id not in facts.writers]
    for number, touch in unlabelled(facts) if left else ():
        for node in left:
            root, target = facts.node_bytes(node.id)
            if touch.root == root and overlap(touch.ranges, target):
                found.setdefault(facts.home(touch.access.buffer), []).append((node, number, touch))
    return found


def _crossed(facts: Facts, computing: Mapping[str, Collection[int]], done: _Assigning, *, earlier: bool) -> str | None:
    for name, numbers in computing.items() if done else ():
        for number in numbers:
            for touch, ranges in _reads(facts, name, number):
                for assign, writer, wrong in _wrong(facts, name, number, touch, ranges, done):
                    if earlier == (number > writer) or (
                        _for_another(facts, name, number, touch, wrong)
                        and _otherwise(facts, name, number, touch, wrong)
                    ):
                        continue
                    when, which = ("before", "earlier") if earlier else ("after", "later")
                    return (
                        f"{facts.name(number)} reads {touch.access.buffer!r} for {name!r} {when} "
                        f"{facts.name(writer)} did {assign.id!r}, which comes {which} in the program"
                    )
    return None
