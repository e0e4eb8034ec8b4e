"""A failing case made readable: its program, its blocks with their values, and what it should give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.cases.case import FORMAT, Case, case_id
from conformance.cases.codec import CaseFile, StoredOperand
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.json_text import pretty
from conformance.cases.program.program import Program
from conformance.cases.program.step_line import step_line
from conformance.cases.schedule.question import ScheduleCase
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.dtypes import Array, logical
from conformance.cases.tensor.stored import StoredTensor
from conformance.cases.tensor.tensor import to_array
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate
from conformance.report.failures.values import written
from conformance.runner.dialects import dialect_of, load_case, name_of

EVALUATED: Final = 1 << 16
"""Bytes of all inputs up to which the expected values are worked out: milliseconds, even for every bucket."""

CARRIED: Final = 1 << 22
"""Hex digits of all inputs up to which a report carries a case file; a minimal case has a few hundred."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """The block that ``ranks`` (as text, ``0-3``) hold; ``layout`` is empty for a result."""

    ranks: str
    dtype: str
    shape: tuple[int, ...]
    layout: str
    values: str


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A named value of the program, rank by rank; neighbouring ranks that hold the same share a line."""

    name: str
    blocks: tuple[Block, ...]


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A case to read. ``rejection`` says why it has no meaning; ``problem`` why it cannot be shown."""

    mesh: str = ""
    world: int = 0
    steps: tuple[str, ...] = ()
    inputs: tuple[Value, ...] = ()
    expected: tuple[Value, ...] = ()
    rejection: str | None = None
    problem: str | None = None
    source: str | None = None


def read_example(directory: Path, file: str, wanted: str) -> Example:
    """Return the case with id ``wanted`` that ``file``, relative to the run's ``directory``, should hold."""
    path = inside(directory, file)
    if path is None:
        return Example(problem=f"the log names the case file {file!r}, which is not inside the run")
    try:
        case = load_case(path)
    except (ValueError, OSError) as error:
        return Example(problem=f"the case file {file}: {_one_line(error).removeprefix(f'case file {path}: ')}")
    if name_of(case) != wanted:
        return Example(problem=f"the case file {file} holds {name_of(case)}, the log says {wanted}")
    shown = example(case)
    if isinstance(case, Case) or path.with_suffix(".safetensors").exists() or path.stat().st_size > CARRIED:
        return shown
    return msgspec.structs.replace(shown, source=path.read_text())


def example(case: Any) -> Example:
    """Return ``case`` of any dialect made readable; of a program also its file as text, unless it is large."""
    if isinstance(case, Case):
        return _of_program(case)
    if isinstance(case, ScheduleCase) and isinstance(case.of, Case):
        return msgspec.structs.replace(_of_program(case.of), expected=(), source=None)
    return _of_sharded(case) if isinstance(case, ShardedCase) else _of_graph(case)


def _of_sharded(case: ShardedCase) -> Example:
    """Return a program on sharded tensors, node by node, with what is placed where."""
    lines = [
        f"{node_line(node).removesuffix(f' on {node.device}')}{_placed(case, node)}" for node in case.of.graph.nodes
    ]
    mesh = ", ".join(f"{axis.name} = {axis.size}" for axis in case.mesh)
    turned = f", devices {', '.join(map(str, case.devices))}" if case.devices != tuple(sorted(case.devices)) else ""
    asked = ", ".join(case.results)
    return Example(mesh=f"{mesh}{turned}", world=case.world, steps=(*lines, f"return {asked}"))


def _placed(case: ShardedCase, node: Node) -> str:
    placement = case.home(node) if node.op == "buf" else case.moves.get(node.id)
    return "" if placement is None else f" at {msgspec.json.encode(placement).decode()}"


def _of_graph(case: Any) -> Example:
    """Return a graph, as its own case or that of a schedule, node by node; of other cases nothing but their text."""
    graph = case.of if isinstance(case, ScheduleCase) else getattr(case, "graph", None)
    if not isinstance(graph, Graph):
        return Example(problem=f"a case of the dialect {dialect_of(case).name} is shown in its file alone")
    devices = sorted({node.device for node in graph.nodes})
    lines = [node_line(node) for node in graph.nodes]
    return Example(mesh=", ".join(devices), world=len(devices), steps=(*lines, f"return {', '.join(graph.results)}"))


def node_line(node: Node) -> str:
    """Return a node of a graph as one line: ``y = add(a, b): float32[4] on d0``."""
    word = str(node.arg) if node.op == "alu" else node.op
    told = "" if node.arg is None or node.op == "alu" else msgspec.json.encode(node.arg).decode()
    operands = ", ".join([*node.of, *([told] if told else []), *([node.fold] if node.fold else [])])
    extents = ", ".join(map(str, node.shape))
    return f"{node.id} = {word}({operands}): {node.dtype}[{extents}] on {node.device}"


def _of_program(case: Case) -> Example:
    expected, rejection, problem = _meaning(case)
    return Example(
        mesh=", ".join(f"{axis.name} = {axis.size}" for axis in case.program.mesh),
        world=case.program.world,
        steps=(*_lines(case), _results(case.program)),
        inputs=tuple(
            Value(name=name, blocks=_blocks([to_array(block) for block in operand.blocks], operand.layouts))
            for name, operand in case.inputs.items()
        ),
        expected=expected,
        rejection=rejection,
        problem=problem,
        source=inline(case) if _hex_digits(case) <= CARRIED else None,
    )


def inline(case: Case) -> str:
    """Return the case file of ``case`` with every tensor in it, so that it needs no sibling."""
    inputs = {
        name: StoredOperand(
            blocks=tuple(StoredTensor(dtype=b.dtype, shape=b.shape, bits=b.bits) for b in operand.blocks),
            layouts=operand.layouts,
        )
        for name, operand in case.inputs.items()
    }
    document = CaseFile(format=FORMAT, id=case_id(case), program=case.program, inputs=inputs, faults=case.faults)
    return pretty(msgspec.to_builtins(document, order="deterministic"))


def _lines(case: Case) -> Iterator[str]:
    """Yield the steps as lines, each after the faults that come before it."""
    for index, step in enumerate(case.program.steps):
        for fault in case.faults:
            if fault.before == index:
                yield f"rank {fault.rank} {'dies' if fault.delay is None else f'is {fault.delay:g} s late'}"
        yield step_line(step)


def inside(directory: Path, file: str) -> Path | None:
    """Return the path of ``file`` when it really lies inside ``directory``."""
    root = directory.resolve()
    path = (root / file).resolve()
    return path if path.is_relative_to(root) and path != root else None


def _meaning(case: Case) -> tuple[tuple[Value, ...], str | None, str | None]:
    """Return the expected values, or the rejection, or why neither is known."""
    if _hex_digits(case) > 2 * EVALUATED:
        return (), None, "the inputs are too large to work out the expected values here; replay the case"
    try:
        results = evaluate(case)
    except Rejected as rejected:
        return (), f"{rejected.clause}: {rejected}", None
    except ValueError as error:
        return (), None, f"the program has no meaning: {_one_line(error)}"
    return tuple(Value(name=name, blocks=_blocks(blocks)) for name, blocks in results.items()), None, None


def _blocks(arrays: Sequence[Array | None], layouts: Sequence[str] = ()) -> tuple[Block, ...]:
    rows: list[tuple[int, Block]] = []
    for rank, array in enumerate(arrays):
        layout = layouts[rank] if layouts else ""
        if array is None:
            continue  # the rank has no part in this result
        block = Block(
            ranks=str(rank), dtype=logical(array.dtype), shape=array.shape, layout=layout, values=written(array)
        )
        if rows and msgspec.structs.replace(rows[-1][1], ranks="") == msgspec.structs.replace(block, ranks=""):
            first, last = rows[-1]
            rows[-1] = (first, msgspec.structs.replace(last, ranks=f"{first}-{rank}"))
        else:
            rows.append((rank, block))
    return tuple(block for _, block in rows)


def _hex_digits(case: Case) -> int:
    return sum(len(block.bits) for operand in case.inputs.values() for block in operand.blocks)


def _results(program: Program) -> str:
    return f"return {', '.join(program.results)}"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]
