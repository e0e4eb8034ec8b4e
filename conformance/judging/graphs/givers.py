"""Which operations give the elements of values as they are, whatever else those are made of.

What is moved, kept, copied, chosen or taken by an index is the element that an operation gave; what is computed of it
is not.
``function``, ``root`` and ``shift`` are those of ``traits``, and ``whole`` a quotient or a remainder of whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from conformance.cases.graph.case import GraphCase, asked_key, read_key
from conformance.cases.graph.graph import MOVEMENT, Function, Node
from conformance.cases.tensor.dtypes import kind
from conformance.judging.graphs.traits import FUNCTIONS, NOTHING, ROOTS
from conformance.judging.keyed_values import Words

_AS_IT_IS: Final = (*MOVEMENT, "contig", "copy", "gather", "item")
"""Nodes whose elements are those of their first source."""


def givers(case: GraphCase) -> dict[str, Words]:
    """Return for every key of a well-formed case which operations gave elements of it."""
    storages: dict[str, Words] = dict.fromkeys(case.buffers, NOTHING)
    homes: dict[str, str] = {}
    made: dict[str, Words] = {}
    found: dict[str, Words] = {}

    def read(name: str) -> Words:
        return storages[homes[name]] if name in homes else made[name]

    for number, each in enumerate(case.rounds):
        storages |= dict.fromkeys(each.writes, NOTHING)
        for node in case.listed(number):
            if node.op == "buf":
                homes[node.id] = str(node.arg)
            elif node.op == "assign":
                homes[node.id] = home = homes[node.of[0]]
                storages[home] |= read(node.of[1])
            elif node.op in MOVEMENT and node.of[0] in homes:
                homes[node.id] = homes[node.of[0]]
            else:
                made[node.id] = _given(node, [read(name) for name in node.of], case.graph.functions)
        found |= {asked_key(number, name): read(name) for name in each.asked}
        found |= {read_key(number, name): storages[name] for name in each.read}
    return found


def _given(node: Node, of: Sequence[Words], functions: Mapping[str, Function]) -> Words:
    if node.op in _AS_IT_IS:
        return of[0]
    if node.op == "alu" and node.arg == "where":
        return of[1] | of[2]
    if node.op == "alu":
        return _computed(str(node.arg), floats=kind(node.dtype) in ("float", "complex"))
    if node.op == "call":
        function, made = functions[str(node.arg)], dict[str, Words]()
        for each in function.nodes:
            inner = [made[name] for name in each.of]
            made[each.id] = of[int(str(each.arg))] if each.op == "param" else _given(each, inner, functions)
        return NOTHING.union(*(made[name] for name in function.results))
    return NOTHING


def _computed(op: str, *, floats: bool) -> Words:
    words = {"function": op in FUNCTIONS, "root": floats and op in ROOTS, "shift": op in ("shl", "shr")}
    words["whole"] = not floats and op in ("div", "mod")
    return frozenset(word for word, is_it in words.items() if is_it)
