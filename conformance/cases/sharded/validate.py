"""Which sharded cases say something definite, and which of those ask for what has no meaning.

A case whose placement does not fit its tensor is well formed and illegal: whoever is asked for it refuses it.
"""

from __future__ import annotations

from typing import Final

from conformance.cases.case_error import CaseError
from conformance.cases.graph.graph import Node
from conformance.cases.graph.misfits import misfit_kind
from conformance.cases.graph.validate import validate_graph
from conformance.cases.sharded.case import OPERATIONS, ShardedCase
from conformance.cases.sharded.fits import device_problem, parts_problem, placement_problem
from conformance.cases.sharded.placement import REPLICATED, Placement

MOST_DEVICES: Final = 16
MOST_AXES: Final = 3

PLACEMENT: Final = "placement"
SYMBOLIC: Final = "symbolic"
OUTSIDE: Final = "outside"
PARTS: Final = "parts"
"""Why a case is illegal: movement leaves its source, a placement does not fit, an extent is a variable, tensors are on
several sets of devices, or parts make no tensor. An assign of a misfit is one of a graph (``ASSIGNS``)."""

_MEETING: Final = ("alu", "assign", "gather")
"""Operations of several operands."""


def validate_sharded(case: ShardedCase) -> dict[str, tuple[str, str]]:
    """Raise ``CaseError`` unless the case is well formed; return what makes it illegal.

    That is by node, buffer or ``"mesh"``, the kind of problem and the problem.
    """
    _check_mesh(case)
    unfit = validate_graph(case.of)
    nodes = {node.id: node for node in case.of.graph.nodes}
    for node in nodes.values():
        if node.op not in OPERATIONS:
            raise CaseError(f"node {node.id!r}: a program on sharded tensors has no {node.op}")
    named = sorted({node.device for node in nodes.values()})
    if len(named) > 1:
        raise CaseError(
            f"nodes are on {', '.join(named)}; they must name one device, and placements say where tensors are"
        )
    for name in sorted(set(case.homes) - set(case.of.buffers)):
        raise CaseError(f"{name!r} is placed, and is no buffer")
    for name in sorted(case.moves):
        if name not in nodes or nodes[name].op not in ("copy", "reduce"):
            raise CaseError(f"{name!r} is placed, and is neither a copy nor a reduce")
        if case.moves[name].made_of is not None:
            raise CaseError(f"{name!r} is computed, and made of no given parts")
    found = {name: (misfit_kind(nodes[name]), problem) for name, problem in unfit.items()}
    return found | _unplaceable(case, nodes) | _apart(case, nodes)


def _check_mesh(case: ShardedCase) -> None:
    names = [axis.name for axis in case.mesh]
    if not 0 < len(names) <= MOST_AXES or len(set(names)) != len(names):
        raise CaseError(f"the mesh has the axes {names}; 1 to {MOST_AXES} different ones are right")
    if any(axis.size < 1 for axis in case.mesh) or case.world > MOST_DEVICES:
        raise CaseError(f"the mesh has {case.world} devices; 1 to {MOST_DEVICES} are right")
    if len(case.devices) != case.world:
        raise CaseError(f"{len(case.devices)} devices are named for a mesh of {case.world}")
    if any(not 0 <= device < MOST_DEVICES for device in case.devices):
        raise CaseError(f"devices are numbered from 0 to {MOST_DEVICES - 1}, not {list(case.devices)}")


def _apart(case: ShardedCase, nodes: dict[str, Node]) -> dict[str, tuple[str, str]]:
    """Return the operations whose operands are on several sets of devices; refuse a set that meets no other."""
    elsewhere = {name: at.outside for name, at in case.homes.items() if at.outside}
    if any(at.outside for at in case.moves.values()):
        raise CaseError("a copy moves to devices of the mesh, and not outside")
    if not elsewhere:
        return {}
    for name, outside in elsewhere.items():
        if outside == case.devices or any(not 0 <= device < MOST_DEVICES for device in outside):
            raise CaseError(f"{name!r} is outside the mesh {list(case.devices)}, on other devices; got {list(outside)}")
    at: dict[str, tuple[int, ...]] = {}
    found: dict[str, tuple[str, str]] = {}
    for node in nodes.values():
        own = elsewhere.get(str(node.arg), case.devices) if node.op == "buf" else case.devices
        places = [at[name] for name in node.of] or [own]
        if node.op in _MEETING and len(set(places)) > 1:
            found[node.id] = OUTSIDE, f"its operands are on the devices {' and '.join(map(str, map(list, places)))}"
        at[node.id] = case.devices if node.op == "copy" else places[0]
    if not found:
        raise CaseError(f"{next(iter(elsewhere))!r} is outside the mesh, and meets no tensor of it")
    return found


def _unplaceable(case: ShardedCase, nodes: dict[str, Node]) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    problem = device_problem(case.mesh, case.devices)
    if problem is not None:
        found["mesh"] = PLACEMENT, problem
    symbolic = [node for node in nodes.values() if any(isinstance(dim, str) for dim in node.shape)]
    for node in symbolic:
        found[node.id] = SYMBOLIC, f"extent {next(dim for dim in node.shape if isinstance(dim, str))!r} is a variable"
    for name, placement in case.homes.items():
        given = case.of.buffers[name]
        problem = placement_problem(given.shape, given.dtype, placement, case.mesh)
        misfit = None if problem else parts_problem(given.dtype, placement, case.mesh)
        if misfit is not None:
            found[name] = PARTS, misfit
            continue
        problem = problem or ("a buffer holds contributions" if placement.partial else None)
        if problem is not None:
            found[name] = PLACEMENT, problem
    for name, placement in case.moves.items():
        node = nodes[name]
        if node not in symbolic:
            shape = tuple(int(dim) for dim in node.shape)
            problem = placement_problem(shape, node.dtype, placement, case.mesh)
            problem = problem or _pending_problem(node, placement, nodes, case)
            if problem is not None:
                found[name] = PLACEMENT, problem
    return found


def _pending_problem(node: Node, placement: Placement, nodes: dict[str, Node], case: ShardedCase) -> str | None:
    """Return what is wrong with where a reduce is to stay pending, or with a copy that is to become one."""
    if node.op == "copy":
        return "a copy makes no contributions of a value" if placement.partial else None
    source = nodes[node.of[0]]
    home = case.home(source) if source.op == "buf" else case.moves.get(source.id, REPLICATED)
    axes = node.arg if isinstance(node.arg, tuple) else ()
    cut = {name for split in home.splits if split.axis in axes for name in split.along}
    if not placement.partial or set(placement.partial) - cut or set(placement.partial.values()) != {node.fold}:
        return f"it can stay a pending {node.fold} only along mesh axes that cut what it folds: {sorted(cut)}"
    return None
