"""One value computed once, and one program launched for what is the same up to the names of buffers."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from itertools import combinations
from typing import Final

import msgspec
from msgspec.structs import replace

from conformance.cases.graph.graph import Node
from conformance.cases.schedule.schedule import Copy, Kernel
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import PairClause, ScheduleClause
from conformance.judging.schedules.facts.keys import key_of
from conformance.judging.schedules.facts.labels import hidden, said
from conformance.judging.schedules.facts.subjects import labelled_node
from conformance.reference.byte_ranges import overlap
from conformance.reference.schedule.execute import executable
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.kernel_equivalence import alike
from conformance.specs.schedules.order import wrong_value

_VALUES: Final = ("alu", "cast", "bitcast", "reduce", "gather", "iota")
"""What is one value wherever operation, sources and arguments are the same: contigs, copies and calls are asked for."""


def _twins(facts: Facts) -> dict[bytes, list[str]]:
    """Return the computed nodes that are one value, by what makes them one."""
    keys: dict[str, bytes] = {}
    found: dict[bytes, list[str]] = {}
    for node in facts.nodes.values():
        keys[node.id] = _key(facts, node, keys)
        if node.op in _VALUES:
            found.setdefault(keys[node.id], []).append(node.id)
    return {key: names for key, names in found.items() if len(names) > 1}


def _key(facts: Facts, node: Node, keys: dict[str, bytes]) -> bytes:
    """Return what a node is up to its name: one that takes storage which is ever assigned to is one value alone."""
    if any(name in facts.stored and _changes(facts, name) for name in (node.id, *node.of)):
        return msgspec.json.encode(("own", node.id))
    if node.id in facts.stored:
        root, _ = facts.node_bytes(node.id)
        return digest(msgspec.json.encode((root, node.dtype, node.shape, facts.stored[node.id].at.tolist())))
    if node.op not in _VALUES and node.op not in ("const", "var") and node.id not in facts.constants:
        return msgspec.json.encode(("own", node.id))
    sources = [keys[name].hex() for name in node.of]
    known = (node.op, node.shape, node.dtype, node.device, node.arg, node.fold, node.acc, sorted(node.attrs.items()))
    return digest(msgspec.json.encode((known, sources), order="deterministic"))


def _changes(facts: Facts, name: str) -> bool:
    """Return whether what a name of storage names is ever assigned to."""
    root, ranges = facts.node_bytes(name)
    written = (facts.stored_bytes(stored) for _, stored in facts.assigned)
    return any(root == other and overlap(ranges, taken) for other, taken in written)


def digest(content: bytes) -> bytes:
    """Return 16 bytes that stand for content, so that keys of chains do not grow with their length."""
    return blake2b(content, digest_size=16).digest()


def twins_stored_once(facts: Facts) -> str | None:
    """Find two nodes that are one value and are each computed into bytes of their own."""
    writers, twins = said(facts), _twins(facts)
    for names in twins.values():
        for one, other in combinations([name for name in names if name in writers], 2):
            (first, touch), (second, there) = writers[one][0], writers[other][0]
            copied = any(isinstance(facts.leaves[number], Copy) for number in (first, second))
            same = touch.root == there.root and overlap(touch.ranges, there.ranges)
            if first != second and not copied and not same and _from_scratch(facts, first, second):
                return f"{facts.name(second)} computes {other!r}, which is {one!r}, which {facts.name(first)} computes"
    return SILENT if hidden(facts, [name for names in twins.values() for name in names]) else None


def _from_scratch(facts: Facts, first: int, second: int) -> bool:
    """Return whether neither of two leaves reads what the other writes."""
    for one, other in ((first, second), (second, first)):
        written = [touch for touch in facts.touches[one] if touch.write]
        for read in (touch for touch in facts.touches[other] if not touch.write):
            if any(read.root == each.root and overlap(read.ranges, each.ranges) for each in written):
                return False
    return True


def _kernels(facts: Facts) -> list[tuple[int, Kernel]]:
    return [(number, leaf) for number, leaf in enumerate(facts.leaves) if isinstance(leaf, Kernel) and leaf.program]


def one_program_for_one_kernel(facts: Facts) -> str | None:
    """Find two kernels of one device that are one up to the names of buffers and launch different programs."""
    return _unlike_programs(facts, anywhere=False)


def one_program_for_all_devices(facts: Facts) -> str | None:
    """Find two kernels of two devices that are one up to the names of buffers and launch different programs."""
    return _unlike_programs(facts, anywhere=True)


def _unlike_programs(facts: Facts, *, anywhere: bool) -> str | None:
    """Find two kernels that are one, of two devices where they are ``anywhere`` and else of one, of other programs.

    Say nothing where no two are one, nor where one may be another's of which no body or no program is known.
    """
    seen: dict[object, dict[tuple[str | None, str], int]] = {}
    compared = False
    for number, leaf in _kernels(facts):
        if leaf.bodies:
            device, alike = facts.device(leaf), seen.setdefault(_kind(facts, leaf), {})
            for (other, program), first in alike.items():
                if (other != device) == anywhere:
                    compared = True
                    if program != leaf.program:
                        return (
                            f"{facts.name(number)} launches {leaf.program!r}, and {facts.name(first)}, its like, "
                            f"{program!r}"
                        )
            alike.setdefault((device, leaf.program), number)
    return None if compared and not _untold(facts, anywhere=anywhere) else SILENT


def _kind(facts: Facts, leaf: Kernel) -> tuple[bytes, object]:
    """Return what a kernel is, whatever its buffers are called: a compiler may know how large each is, and where."""
    buffers = [facts.buffers[access.buffer] for access in leaf.accesses]
    return key_of(facts, leaf, anywhere=True), tuple((each.size, each.local, each.space) for each in buffers)


def _untold(facts: Facts, *, anywhere: bool) -> bool:
    """Return whether a kernel without a body or a program may be one with another that launches another program."""
    kernels = [leaf for leaf in facts.leaves if isinstance(leaf, Kernel)]
    touching: dict[object, list[Kernel]] = {}
    for leaf in () if all(each.bodies and each.program for each in kernels) else kernels:
        where = anywhere or facts.device(leaf)
        touching.setdefault((_kind(facts, replace(leaf, bodies=())), where), []).append(leaf)
    for several in touching.values():
        programs = {leaf.program or leaf.id for leaf in several}
        kinds = [_kind(facts, leaf) for leaf in several] if len(programs) > 1 else []
        for leaf, own in zip(several, kinds, strict=False):
            if not leaf.bodies or (not leaf.program and kinds.count(own) > 1):
                return True
    return False


def one_kernel_for_one_program(facts: Facts) -> str | None:
    """Find two kernels that launch one program and do not write the same bytes wherever they read the same.

    Say nothing where of one of several that launch one nobody says what it does, nor beside two that cannot be tried.
    """
    count = _launches(facts)
    told = all(leaf.bodies or count[leaf.program] == 1 for _, leaf in _kernels(facts))
    kinds: dict[str, dict[tuple[bytes, object], int]] = {}
    for number, leaf in _kernels(facts):
        if leaf.bodies:
            kinds.setdefault(leaf.program, {}).setdefault(_kind(facts, leaf), number)
    for program, numbers in kinds.items():
        for ((key, _), first), ((other, _), second) in combinations(numbers.items(), 2):
            # What one program does may be said in several ways: of bools a sum, a maximum and an or are one.
            same = key == other or alike(facts, first, second)
            if same is False:
                return f"{facts.name(second)} and {facts.name(first)} launch {program!r}, and are different"
            told &= same is not None
    return None if told else SILENT


def _launches(facts: Facts) -> Counter[str]:
    """Return how many kernels launch each program."""
    return Counter(leaf.program for _, leaf in _kernels(facts))


def _launched_again(facts: Facts) -> bool:
    """Speak of programs that several kernels launch, one of which has a body."""
    count = _launches(facts)
    return any(leaf.bodies and count[leaf.program] > 1 for _, leaf in _kernels(facts))


def _on_several(facts: Facts) -> bool:
    return len({facts.device(leaf) for _, leaf in _kernels(facts) if leaf.bodies}) > 1


def _several(facts: Facts) -> bool:
    return sum(bool(leaf.bodies) for _, leaf in _kernels(facts)) > 1


def cached_values(first: Facts, second: Facts) -> str | None:
    """Find a value of the schedule that was asked for again that differs from the graph's."""
    del first
    problem = wrong_value(second)
    return None if problem is None else f"asked for again in the same process, {problem}"


def _second_runs(first: Facts, second: Facts) -> bool:
    return executable(first) is None and executable(second) is None


DEDUP = (
    ScheduleClause(
        "dedup.C1",
        "Two nodes that are the same elementwise operation, conversion, reduce, gather or iota, with one device, "
        "shape, dtype, sources and arguments, are not both computed into bytes of their own. Excepted are those of "
        "storage that is assigned to, and one made by copying or reading the other.",
        "tinygrad.lazy: create_lazybuffer",
        twins_stored_once,
        lambda facts: labelled_node(*_VALUES)(facts) and bool(_twins(facts)),
        requirement="should",
    ),
    ScheduleClause(
        "dedup.C2",
        "Two kernels of one device launch one program where they have the same bodies, and accesses by the same maps "
        "to buffers of equal sizes and dtypes in one kind of memory, the same ones of each kernel to one buffer, "
        "whatever the names of buffers and values of variables.",
        "tinygrad.schedule: split_store",
        one_program_for_one_kernel,
        _several,
        requirement="should",
    ),
    ScheduleClause(
        "dedup.C5",
        "Two kernels of different devices launch one program where they have the same bodies, and accesses by the same "
        "maps to buffers of equal sizes and dtypes in one kind of memory, the same ones of each kernel to one buffer, "
        "whatever names of buffers and values of variables.",
        "tinygrad.schedule: to_define_global",
        one_program_for_all_devices,
        _on_several,
        requirement="should",
    ),
    ScheduleClause(
        "dedup.C3",
        "Two kernels that launch one program do the same: if they are given the same bytes to read and the same "
        "values of variables, they write the same bytes at the same places of their buffers.",
        "tinygrad.schedule: split_store",
        one_kernel_for_one_program,
        _launched_again,
    ),
)

DEDUP_OF_TWO = (
    PairClause(
        "dedup.C4",
        "A schedule that is made in the same process once more for the same graph gives the values of the graph, "
        "whatever the implementation has kept of the first schedule.",
        "ours",
        "cached",
        cached_values,
        _second_runs,
    ),
)
