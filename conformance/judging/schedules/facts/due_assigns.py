"""Which assigns have to be done, and by whom it is known that they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.cases.graph.graph import LEAVES, MOVEMENT, Node
from conformance.cases.schedule.index_map import Indices
from conformance.judging.clause import SILENT
from conformance.judging.schedules.facts.calls import calls_fit
from conformance.judging.schedules.facts.free_nodes import itself, of_nothing
from conformance.judging.schedules.facts.versions import repeated
from conformance.reference.byte_ranges import overlap, without
from conformance.reference.schedule.execute import changes_nothing
from conformance.reference.schedule.facts import Facts


def due(facts: Facts) -> Iterator[Node]:
    """Yield the assigns that change something, where it is known whether anybody does them."""
    done = [facts.nodes[name] for name in facts.writers if facts.nodes[name].op == "assign"]
    done = [node for node in done if _done(facts, node)]
    for node in (each for each in facts.nodes.values() if each.op == "assign" and facts.stored[each.id].at.size):
        if _done(facts, node) or not (
            _needless(facts, node, done)
            or _unlabelled(facts, node)
            or (calls_fit(facts) and changes_nothing(facts, node.id))
        ):
            yield node


def _done(facts: Facts, node: Node) -> bool:
    """Return whether an item says that it writes the value of an assign, and a byte of it."""
    return any(len(touch.ranges) for _, touch in facts.writers.get(node.id, ()))


def _needless(facts: Facts, node: Node, done: Sequence[Node]) -> bool:
    """Return whether an assign changes nothing where another one is done, or whatever is."""
    once = any(repeated(facts, *pair) for other in done for pair in ((node, other), (other, node)))
    return once or itself(facts, node) or of_nothing(facts, node) or _again(facts, node)


def every_assign(facts: Facts) -> str | None:
    """Find an assign that no item does; say nothing where one may be done by what does not say which value it writes.

    Who writes something else to its target does not do it.
    """
    missing = next((node for node in due(facts) if not _done(facts, node)), None)
    if missing is not None:
        return f"no item does {missing.id!r}, the assign to {facts.stored[missing.id].buffer!r}"
    assigns = [node for node in facts.nodes.values() if node.op == "assign" and facts.stored[node.id].at.size]
    done = [node for node in assigns if _done(facts, node)]
    open_ = (node for node in assigns if node not in done and _unlabelled(facts, node))
    return SILENT if any(not _needless(facts, node, done) for node in open_) else None


def _unlabelled(facts: Facts, node: Node) -> bool:
    """Return whether something is written to the target of an assign that does not say which value it is."""
    root, ranges = facts.node_bytes(node.id)
    return any(
        touch.write and touch.access.node is None and touch.root == root and overlap(touch.ranges, ranges)
        for leaf, own in zip(facts.leaves, facts.touches, strict=True)
        for touch in (own if not leaf.provenance or node.id in leaf.provenance else ())
    )


def _again(facts: Facts, node: Node) -> bool:
    """Return whether all of the target is assigned to once more before anything can tell, so that once is enough."""
    home, target = _where(facts, node.id)
    for other in list(facts.nodes.values())[facts.program[node.id] + 1 :]:
        read = other.of[1:] if other.op == "assign" else () if other.op in {*LEAVES, *MOVEMENT} else other.of
        for there, taken in (_where(facts, source) for source in read if source in facts.stored):
            if there == home and overlap(taken, target):
                return False
        if other.op == "assign":
            there, taken = _where(facts, other.id)
            covers = there == home and not len(without(target, taken))
            if covers and (_done(facts, other) or _unlabelled(facts, other)):
                return True
    return False


def _where(facts: Facts, name: str) -> tuple[str, Indices]:
    """Return whose bytes those are that a name of storage stands for, and which."""
    return facts.home(facts.stored[name].buffer), facts.node_bytes(name)[1]
