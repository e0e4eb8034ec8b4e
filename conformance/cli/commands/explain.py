"""``conformance explain``: what a backend makes of one case."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec
from rich.console import Console

from conformance.backends.base import Unsupported
from conformance.backends.discovery import find, load
from conformance.backends.explanation import Explanation
from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.codec import load as load_program
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.codec import load_graph
from conformance.cases.tensor.stored import read_document
from conformance.cli.problems import Problem
from conformance.cli.progress import print_json, printer


@click.command("explain")
@click.argument("file", metavar="CASE", type=click.Path(path_type=Path))
@click.option("-b", "--backend", "name", default="opencl", show_default=True, help="Whose work is shown.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(file: Path, name: str, as_json: bool) -> None:
    """Show what a backend makes of the program or the graph in CASE.

    That is the graph as it was taken, and in order all that devices do, with the reason why each kernel is one of its
    own, its source, what it reads and writes and what it waits for; and the buffers.
    """
    case = _case(file)
    backend = load(find(name))
    try:
        found = backend.explain(case)
    except Unsupported as error:
        raise Problem(f"backend {name}: {error}") from error
    except ValueError as error:
        raise Problem(f"{file} has no meaning: {error}") from error
    finally:
        backend.close()
    if as_json:
        print_json(msgspec.to_builtins(found))
        return
    console = printer()
    for each in found:
        _show(console, each)


def _case(file: Path) -> Case | GraphCase:
    """Return the case of a file of either dialect."""
    if not file.is_file():
        raise Problem(f"no case file {file}")
    try:
        document = msgspec.json.decode(read_document(file))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(f"case file {file}: it is not JSON: {error}") from error
    except CaseError as error:
        raise Problem(f"case file {file}: {error}") from error
    is_graph = isinstance(document, dict) and document.get("dialect") == "graph"
    try:
        return load_graph(file) if is_graph else load_program(file)
    except CaseError as error:
        raise Problem(str(error)) from error


def _show(console: Console, found: Explanation) -> None:
    lines = [found.title, "", *(f"  {line}" for line in found.graph), ""]
    for step in found.steps:
        lines.append(
            f"{step.name}: {step.kind} on {step.device}" + (f", because: {step.reason}" if step.reason else "")
        )
        for word, names in (
            ("computes", step.computes),
            ("reads", step.reads),
            ("writes", step.writes),
            ("after", step.after),
        ):
            if names:
                lines.append(f"  {word} {', '.join(names)}")
        lines += [f"    {line}" for line in step.source.splitlines()]
    lines += ["", "buffers:"]
    for each in found.buffers:
        shares = f", in {each.shares} from byte {each.offset} on" if each.shares else ""
        lines.append(f"  {each.name}: {each.size} bytes of {each.dtype} on {each.device}{shares}")
    console.print("\n".join(lines), markup=False, highlight=False)
