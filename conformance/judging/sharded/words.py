"""What the values of a program on sharded tensors are made of, in words, through storage too."""

from __future__ import annotations

import itertools
from collections.abc import Set as AbstractSet
from typing import Final

from conformance.cases.graph.case import asked_key, read_key
from conformance.cases.graph.graph import LEAVES, MOVEMENT, Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement
from conformance.judging.graphs.traits import traits
from conformance.judging.keyed_values import Words
from conformance.reference.sharded.placing import Placed

WORDS: Final = (
    *("split", "even", "uneven", "empty_part", "masked", "pending", "crossed", "several", "turned"),
    *("move", "mixed", "along", "across", "elementwise", "convert", "kept", "gathered", "counted", "written"),
    *("viewed", "overwritten"),
    *(f"{op}_split" for op in MOVEMENT),
)
"""The words.

What is true of a placement on the way: some axis is ``split``, in parts of one size (``even``) or not, one of no
elements (``empty_part``); some part is not real; contributions are ``pending``; two mesh axes are used, for two axes
(``crossed``) or for one (``several``); devices are not in the order of their numbers (``turned``). What was done to a
value that was not whole: a ``move``, an elementwise operation, one on operands that are ``mixed``, that is placed in
several ways, a fold ``along`` a split axis or ``across`` others, and so on. What was ``written`` to storage may have
been ``viewed``, that is assigned to a view of it, or ``overwritten``, assigned to more than once.
"""


def words_of(case: ShardedCase, placed: Placed) -> dict[str, Words]:
    """Return for every key of a legal case what it is made of."""
    made = _made(case, placed)
    of_graph = traits(case.of)
    found: dict[str, Words] = {}
    for number, each in enumerate(case.of.rounds):
        for name in each.asked:
            found[asked_key(number, name)] = made[name]
        for name in each.read:
            found[read_key(number, name)] = made.get(f"buffer {name}", frozenset()) | _placement(
                case, case.homes.get(name)
            )
    return {key: words | of_graph[key] for key, words in found.items()}


def _made(case: ShardedCase, placed: Placed) -> dict[str, Words]:
    nodes = {node.id: node for node in case.of.graph.nodes}
    found: dict[str, Words] = {}
    homes: dict[str, str] = {}
    viewed = {node.id for node in nodes.values() if node.op in MOVEMENT}
    for node in nodes.values():
        homes[node.id] = _home(node, homes)
        words = _own(node, placed, viewed) | _placement(case, placed.at[node.id])
        for name in node.of:
            words |= found[name] | (found.get(f"buffer {homes[name]}", frozenset()) if homes[name] else frozenset())
        found[node.id] = words
        if node.op == "assign":
            key = f"buffer {homes[node.id]}"
            if "written" in found.get(key, frozenset()):
                words |= {"overwritten"}
            found[key] = found.get(key, frozenset()) | words
    return found


def _home(node: Node, homes: dict[str, str]) -> str:
    if node.op == "buf":
        return str(node.arg)
    return homes[node.of[0]] if node.op in (*MOVEMENT, "assign") else ""


def _placement(case: ShardedCase, at: Placement | None) -> Words:
    words = set[str]()
    if case.devices != tuple(sorted(case.devices)):
        words.add("turned")
    if at is None:
        return frozenset(words)
    for split in at.splits:
        widths = {end - begin for begin, end in itertools.pairwise(split.cuts)}
        words |= {"split", "even" if len(widths) == 1 else "uneven"}
        if 0 in widths:
            words.add("empty_part")
        if len(split.along) > 1:
            words.add("several")
    if len(at.splits) > 1:
        words.add("crossed")
    if at.masks:
        words.add("masked")
    if at.partial:
        words.add("pending")
    return frozenset(words)


_NAMES: Final = {
    "alu": "elementwise",
    "cast": "convert",
    "bitcast": "convert",
    "contig": "kept",
    "gather": "gathered",
    "assign": "written",
    **{op: f"{op}_split" for op in MOVEMENT},
}


def _own(node: Node, placed: Placed, viewed: AbstractSet[str]) -> Words:
    """Return what a node does to what is not whole."""
    at = [placed.at[name] for name in node.of]
    if node.op == "copy":
        return frozenset({"move"})
    if node.op in LEAVES:
        return frozenset({"counted"}) if node.op == "iota" else frozenset()
    if not any(each.splits or each.masks or each.partial for each in at):
        return frozenset()
    if node.op == "reduce":
        axes = node.arg if isinstance(node.arg, tuple) else ()
        return frozenset({"along" if any(split.axis in axes for split in at[0].splits) else "across"})
    words = {_NAMES[node.op]}
    if node.op == "assign" and node.of[0] in viewed:
        words.add("viewed")
    if len({(each.splits, tuple(each.masks.items()), tuple(each.partial)) for each in at}) > 1:
        words.add("mixed")
    return frozenset(words)
