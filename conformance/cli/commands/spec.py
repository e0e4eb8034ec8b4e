"""``conformance spec``: the specification, of everything, of an operation, or of a clause."""

from __future__ import annotations

from contextlib import nullcontext
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from conformance.cli.names import unlike
from conformance.cli.opening import output
from conformance.cli.parameter_types import Written
from conformance.cli.progress import print_json, printer
from conformance.judging.clause import AnyClause
from conformance.reference.operations import OPERATIONS
from conformance.reference.reductions import REDUCTIONS
from conformance.reference.spmd import ATTRIBUTES
from conformance.runner.dialects import further_clauses
from conformance.specification.pictures import drawn
from conformance.specs import OPS, SHARED, Clause, Op, every_clause
from conformance.specs.sources import SOURCES, Source, cited, described


def aliases() -> dict[str, str]:
    """Return the frameworks' names, whole and by their last word, with the operation each is an alias of."""
    found = {}
    for op in OPS.values():
        for name in (name for names in op.aliases.values() for name in names):
            found[name] = found[name.rpartition(".")[2]] = op.name
    return found


def clause_data(clause: Clause | AnyClause) -> dict[str, Any]:
    """Return a clause as plain data."""
    return {
        "id": clause.id,
        "requirement": clause.requirement,
        "text": clause.text,
        "source": clause.source,
        "cites": [{**source_data(source), "place": place} for source, place in cited(clause.source)],
        "suite": clause.suite,
        **({"guarantee": clause.guarantee} if isinstance(clause, Clause) and clause.guarantee else {}),
        **({"divergences": divergences(clause)} if divergences(clause) else {}),
    }


def source_data(source: Source) -> dict[str, Any]:
    """Return a source as plain data."""
    text = source.document
    return {
        "name": source.name,
        "title": text.title,
        "version": text.version,
        "licence": text.licence,
        "file": text.file,
        "section": source.section,
        "settles": source.settles,
    }


def divergences(clause: Clause | AnyClause) -> dict[str, str]:
    """Return what sources, by name, say where the clause says something else."""
    return {each.source: each.text for each in clause.diverges} if isinstance(clause, Clause) else {}


def op_data(op: Op) -> dict[str, Any]:
    """Return an operation, with the clauses it shares with others, as plain data."""
    return {
        "name": op.name,
        "summary": op.summary,
        "parameters": [
            {"name": one.name, "keyword": one.kind is Parameter.KEYWORD_ONLY, "type": str(one.annotation)}
            | ({} if one.default is Parameter.empty else {"default": one.default})
            for one in parameters(op)
        ],
        "notes": notes(op),
        "attributes": {name: _type_name(hint) for name, hint in ATTRIBUTES[op.name].items()},
        "aliases": {framework: list(names) for framework, names in op.aliases.items()},
        "clauses": [clause_data(clause) for clause in op.clauses],
        "shared": [clause_data(clause) for clause in op.shares],
        "examples": [msgspec.to_builtins(example) for example in op.examples],
    }


def parameters(op: Op) -> list[Parameter]:
    """Return what the method of a backend is called with, in order: operands, then keywords."""
    return list(signature(OPERATIONS[op.name]).parameters.values())


def notes(op: Op) -> str:
    """Return what the reference says of shapes and parameters, below its first line; empty where that says it all."""
    said = (getdoc(OPERATIONS[op.name]) or "").partition("\n")[2].strip()
    known = ("max", "min") if op.name == "arg_reduce" else tuple(REDUCTIONS)
    words = f"``op`` is one of {', '.join(known)}." if "op" in ATTRIBUTES[op.name] else ""
    return "\n\n".join(part for part in (said, words) if part)


@click.command("spec")
@click.argument("names", nargs=-1, metavar="[OP|CLAUSE|SOURCE]")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--search", "words", metavar="WORDS", help="Print the sentences that have all of these words.")
@click.option("--markdown", is_flag=True, help="Write the whole specification as pages to the folder of -o.")
@click.option("-o", "folder", type=Written(), help="The folder of the pages.")
def command(names: tuple[str, ...], as_json: bool, words: str | None, markdown: bool, folder: Path | None) -> None:
    """Print the specification: of everything, of an operation (a framework's name will do), a clause or a source."""
    if words is not None:
        words, names = " ".join((words, *names)), ()
    if len(names) > 1:
        raise click.UsageError(f"one name at a time; got {', '.join(names)}. --search looks for several words")
    name = names[0] if names else None
    if sum((name is not None, words is not None, markdown)) > 1:
        raise click.UsageError("give a name, --search or --markdown: one of the three")
    if markdown != (folder is not None):
        raise click.UsageError("--markdown writes pages to the folder of -o: give both or neither")
    if folder is not None:
        _write(folder)
        return
    data, show = _chosen(name) if words is None else _found(words)
    if as_json:
        print_json(data)
    else:
        console = printer()
        # The whole specification is longer than any screen.
        with console.pager() if name is None and words is None and console.is_terminal else nullcontext():
            show(console)


def _write(folder: Path) -> None:
    from conformance.specification.document import pages

    with output(folder):
        for file, text in pages().items():
            (folder / file).write_text(text, encoding="utf-8")
            click.echo(f"wrote {folder / file}")


def _found(words: str) -> tuple[dict[str, Any], Any]:
    from conformance.specification.search import search

    sentences = search(words)
    if not sentences:
        raise click.UsageError(
            f"no sentence of the specification has all of {words!r}; try fewer words, or parts of them"
        )

    def show(console: Console) -> None:
        for each in sentences:
            console.print(f"{each.name:<24} {each.text}", markup=False)

    return {"sentences": [each._asdict() for each in sentences]}, show


def _chosen(name: str | None) -> tuple[dict[str, Any], Any]:
    clauses: dict[str, Clause | AnyClause] = {**every_clause(), **further_clauses()}
    known = aliases()
    if name is None:
        data = {
            "operations": [op_data(op) for op in OPS.values()],
            "shared": [clause_data(clause) for clause in SHARED],
            "further": [clause_data(clause) for clause in further_clauses().values()],
            "sources": [source_data(source) for source in SOURCES.values()],
        }
        return data, _show_everything
    if "." in name and name not in {**known, **SOURCES, **clauses}:
        # A longer path to a function than those that frameworks document: jax.lax.psum.
        last = name.rpartition(".")[2]
        name = last if last in known or last in OPS else name
    if name in OPS or name in known:
        op = OPS[known.get(name, name)]
        return op_data(op), lambda console: _show_op(console, op)
    if name in clauses:
        clause = clauses[name]
        return clause_data(clause), lambda console: _show_clause(console, clause)
    if name in SOURCES:
        source = SOURCES[name]
        citing = tuple(each for each in clauses.values() if source in dict(cited(each.source)))
        data = source_data(source) | {"clauses": [clause_data(clause) for clause in citing]}
        return data, lambda console: _show_source(console, source, citing)
    raise click.UsageError(
        unlike("operation, clause or source", name, [*OPS, *known, *clauses, *SOURCES])
        + f" (`conformance spec` lists the operations: {', '.join(OPS)})"
    )


def _show_everything(console: Console) -> None:
    table = Table("operation", "clauses", "what it does")
    for op in OPS.values():
        table.add_row(op.name, str(len(op.clauses)), escape(op.summary))
    console.print(table)
    console.print("Clauses that several operations share:")
    _show_clauses(console, SHARED)
    console.print("Clauses about schedules, graphs, types and transposes:")
    _show_clauses(console, tuple(further_clauses().values()))


def _show_op(console: Console, op: Op) -> None:
    console.print(f"[bold]{op.name}[/bold]: {escape(op.summary)}")
    attributes = ", ".join(f"{name}: {_type_name(hint)}" for name, hint in ATTRIBUTES[op.name].items())
    console.print(f"attributes: {escape(attributes) or 'none'}")
    console.print(f"method: {op.name}{_call(op)}", markup=False)
    if notes(op):
        console.print(notes(op).replace("``", "`"), markup=False)
    for framework, names in op.aliases.items():
        console.print(f"{framework}: {', '.join(names)}", markup=False)
    for line in drawn(op.name):
        console.print(line, markup=False)
    _show_clauses(console, op.clauses)
    console.print("Shared with other operations:")
    _show_clauses(console, op.shares)
    for example in op.examples:
        groups = "" if example.groups is None else f", groups {[list(group) for group in example.groups]}"
        attrs = ", ".join(f"{name}={value}" for name, value in example.attrs.items())
        console.print(f"example ({example.dtype}, {attrs}{groups}):", markup=False)
        console.print(f"    {example.blocks}\n    gives {example.results}", markup=False)


def _call(op: Op) -> str:
    """Return the parameters in order, as they are written."""
    return str(signature(OPERATIONS[op.name])).partition(" ->")[0].replace("'", "")


def _show_clauses(console: Console, clauses: tuple[Clause | AnyClause, ...]) -> None:
    for clause in clauses:
        console.print(f"  {clause.id:<20} {clause.requirement:<7}{clause.text}", markup=False)


def _show_clause(console: Console, clause: Clause | AnyClause) -> None:
    console.print(f"[bold]{clause.id}[/bold] ({clause.requirement}, suite {clause.suite})")
    console.print(clause.text, markup=False)
    console.print(f"source: {described(clause.source)}", markup=False)
    if isinstance(clause, Clause) and clause.guarantee is not None:
        console.print(f"a must for backends that give the guarantee {clause.guarantee}", markup=False)
    for source, text in divergences(clause).items():
        console.print(f"{source} says otherwise: {text}", markup=False)


def _show_source(console: Console, source: Source, citing: tuple[Clause | AnyClause, ...]) -> None:
    console.print(described(source.name), markup=False)
    console.print(f"settles {source.settles}", markup=False)
    console.print("Cited by:")
    _show_clauses(console, citing)


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
