"""Which values of a graph case are made of which others, through storage too."""

from __future__ import annotations

from collections.abc import Collection

from conformance.cases.graph.case import GraphCase, asked_key, read_key
from conformance.cases.graph.graph import MOVEMENT


def ancestors(case: GraphCase, keys: Collection[str]) -> dict[str, frozenset[str]]:
    """Return for each of some keys of a well-formed case the others of whose nodes, or whose storage, it is made of.

    Storage that is read is made of all that was assigned to it, and of what it showed in an earlier round.
    """
    # A set of nodes is an integer, one bit each: a case is walked once more for every answer with two wrong values.
    names = {key: key.partition("/")[2] for key in keys}
    bits = {name: 1 << at for at, name in enumerate(dict.fromkeys(names.values()))}
    storages = dict.fromkeys(case.buffers, 0)
    made: dict[str, int] = {}
    homes: dict[str, str] = {}
    found: dict[str, int] = {}

    def read(name: str) -> int:
        return made[name] | (storages[homes[name]] if name in homes else 0)

    for number, each in enumerate(case.rounds):
        storages |= dict.fromkeys(each.writes, 0)
        for node in case.listed(number):
            own = bits.get(node.id, 0)
            if node.op == "buf":
                homes[node.id] = str(node.arg)
            elif node.op == "assign":
                homes[node.id] = home = homes[node.of[0]]
                own |= made[node.of[0]]
                storages[home] |= made[node.of[0]] | read(node.of[1])
            elif node.op in MOVEMENT and node.of[0] in homes:
                homes[node.id] = homes[node.of[0]]
                own |= made[node.of[0]]
            else:
                for name in node.of:
                    own |= read(name)
            made[node.id] = own
        found |= {asked_key(number, name): read(name) for name in each.asked}
        found |= {read_key(number, name): storages[name] for name in each.read}
    return {
        key: frozenset(other for other, name in names.items() if other != key and found[key] & bits[name])
        for key in keys
    }
