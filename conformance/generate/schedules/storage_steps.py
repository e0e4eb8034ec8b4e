"""Steps that leave a device or write storage: copies, collectives, and assigns to parts of buffers."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.cases.graph.graph import Node
from conformance.generate import choices
from conformance.generate.graphs.nodes import Shape, alike
from conformance.generate.graphs.vocabulary import plainest, taking
from conformance.generate.schedules.graph_nodes import GraphChain


def cross(chain: GraphChain) -> bool:
    """Go on with a copy, or with what one device receives when all meet."""
    if len(chain.devices) > 1 and chain.draw(choices.booleans()) and _meeting(chain):
        return True
    device, forced = (
        chain.draw(choices.sampled_from(chain.devices)),
        chain.draw(choices.sampled_from(chain.swarm.forced)),
    )
    return chain.same("copy", device=device, arg=forced)


def _meeting(chain: GraphChain) -> bool:
    """Go on with a reduction over all devices of the head and of others like it, or with another collective."""
    at, of = chain.head, list[Node]()
    for device in chain.devices:
        like = replace(at, device=device)
        others = [node for node in chain.nodes if alike(node, like) and node.op != "const"]
        known = [node for node in others if node.id not in chain.bare]
        peer = at if device == at.device else known[-1] if known else chain.stored(at, device)
        of.append(peer)
    rest: dict[str, Any] = {"fold": chain.draw(choices.sampled_from(_folds(chain)))}
    op, shapes = "all_reduce", at.shape
    if chain.swarm.meetings and all(isinstance(extent, int) for extent in at.shape):
        op, (rest, shapes) = "collective", _collective(chain)
    made = [chain.add(op, shapes, at.dtype, *of, device=node.device, **rest) for node in of]
    return chain.on(made[chain.draw(choices.integers(0, len(made) - 1))])


def _folds(chain: GraphChain) -> list[str]:
    if chain.head.dtype == "bool":
        return ["or", "and", "max"]
    folds = [fold for fold in taking(chain.head.dtype, chain.swarm.folds) if fold in ("add", "max", "mul")]
    return folds or [plainest(chain.head.dtype)]


def _collective(chain: GraphChain) -> tuple[dict[str, Any], Shape]:
    """Return the arguments of a collective of the head and its like, and the shape that each device receives."""
    shape, count = chain.head.shape, len(chain.devices)
    found: list[tuple[str, dict[str, Any], Shape]] = [
        ("broadcast", {"root": count - 1}, shape),
        ("all_gather", {"axis": 0, "tiled": False}, (count, *shape)),
    ]
    if shape:
        found.append(("all_gather", {"axis": 0, "tiled": True}, (int(shape[0]) * count, *shape[1:])))
        if int(shape[0]) % count == 0:
            found.append(("all_to_all", {"split_axis": 0, "concat_axis": 0, "tiled": True}, shape))
    op, attrs, made = chain.draw(choices.sampled_from([each for each in found if chain.room(each[2])] or found[:1]))
    return {"arg": op, "attrs": attrs, "members": chain.devices}, made


def assign(chain: GraphChain) -> bool:
    """Go on with what is assigned to a part of a buffer, by a name of it that has the shape of the head."""
    at = chain.head
    target = chain.stored(at, at.device)
    made = chain.add("assign", target.shape, target.dtype, target, at)
    chain.open.add(made.id)
    return chain.on(made)
