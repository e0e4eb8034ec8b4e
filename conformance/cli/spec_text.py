"""What ``conformance spec`` prints for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from conformance.cli.spec_search import Found

Data = dict[str, Any]

MOST: Final = 12
"""Entries of a word that are printed with the texts of their clauses; of further ones the titles are listed."""


def show(console: Console, answers: Data, kind: str, found: Any) -> None:
    """Print what a word leads to."""
    if kind == "operation":
        op, entries, own = found
        if not own:
            show_entries(console, answers, entries)
        show_operation(console, answers, op)
        if own:
            _listed(console, answers, entries)
    elif kind == "clause":
        show_clause(console, answers, found)
    elif kind == "source":
        _source(console, answers, found)
    elif kind == "rule":
        _rule(console, answers, found)
    else:
        show_entries(console, answers, found)


def show_everything(console: Console, answers: Data) -> None:
    """Print the operations, and all clauses that are not of one operation."""
    table = Table("operation", "clauses", "what it does")
    for op in answers["operations"].values():
        table.add_row(op["name"], str(len(op["clauses"])), escape(op["summary"]))
    console.print(table)
    console.print("Clauses that several operations share:")
    _clauses(console, answers, answers["shared"])
    console.print("Clauses about schedules, graphs, types and transposes:")
    _clauses(console, answers, answers["further"])


def show_sentences(console: Console, found: Iterable[Found]) -> None:
    """Print sentences that a search found."""
    for name, text, _ in found:
        console.print(f"{name:<24} {text}", markup=False)


def show_entries(console: Console, answers: Data, entries: list[Data]) -> None:
    """Print entries of the index: names by their rows, the others by what is said, and their clauses."""
    for entry in entries[:MOST]:
        console.print(f"[bold]{escape(entry['title'])}[/bold] ({entry['kind']})")
        if entry["kind"] == "name":
            framework, name = entry["title"].split(": ", 1)
            _rows(console, _rows_of(answers, framework, name))
        elif entry["kind"] == "framework":
            _rows(console, [row for row in answers["names"] if row["framework"] == entry["title"]], named=True)
        else:
            console.print(entry["text"], markup=False)
        members = [id for id in answers["clauses"] if id.startswith(f"{entry['title']}.")]
        _clauses(console, answers, members if entry["kind"] == "clauses" else entry["clauses"])
        console.print(f"  docs/{entry['link']}", markup=False)
    if len(entries) > MOST:
        console.print(f"also: {', '.join(each['title'] for each in entries[MOST:])}", markup=False)


def _listed(console: Console, answers: Data, entries: list[Data]) -> None:
    """Print the names that frameworks have by the same word, and what else the word leads to, without clauses."""
    for entry in entries:
        if entry["kind"] == "name":
            framework, name = entry["title"].split(": ", 1)
            _rows(
                console,
                [{**row, "name": f"{framework} {name}"} for row in _rows_of(answers, framework, name)],
                named=True,
            )
    also = [f"{each['title']} ({each['kind']})" for each in entries if each["kind"] != "name"]
    if also:
        console.print(f"also: {', '.join(also)}", markup=False)


def _rows_of(answers: Data, framework: str, name: str) -> list[Data]:
    return [row for row in answers["names"] if (row["framework"], row["name"]) == (framework, name)]


def _rows(console: Console, rows: list[Data], *, named: bool = False) -> None:
    for row in rows:
        name = ", ".join(each for each in (row["name"] if named else "", row["aspect"]) if each)
        ours = f" {row['ours']}" if row["ours"] else ""
        said = " ".join(each for each in (row["difference"], f"({row['status']})" if row["status"] else "") if each)
        console.print(
            f"  {f'{name}: ' if name else ''}{row['relation']}{ours}{f'. {said}' if said else ''}", markup=False
        )


def show_operation(console: Console, answers: Data, name: str) -> None:
    """Print an operation: how it is called, what it does, its names and its clauses."""
    op = answers["operations"][name]
    console.print(f"[bold]{name}[/bold]: {escape(op['summary'])}")
    attributes = ", ".join(f"{attribute}: {kind}" for attribute, kind in op["attributes"].items())
    console.print(f"attributes: {escape(attributes) or 'none'}")
    console.print(f"method: {op['method']}", markup=False)
    if op["notes"]:
        console.print(op["notes"].replace("``", "`"), markup=False)
    for framework, names in op["aliases"].items():
        console.print(f"{framework}: {', '.join(names)}", markup=False)
    for row in answers["names"]:
        if row["operation"] == name and row["relation"] == "otherwise":
            title = ", ".join(each for each in (row["name"], row["aspect"]) if each)
            console.print(f"  {row['framework']} {title} is otherwise: {row['difference']}", markup=False)
    for line in op["picture"]:
        console.print(line, markup=False)
    _clauses(console, answers, op["clauses"])
    console.print("Shared with other operations:")
    _clauses(console, answers, op["shared"])
    for example in op["examples"]:
        groups = "" if example["groups"] is None else f", groups {[list(group) for group in example['groups']]}"
        attrs = ", ".join(f"{key}={value}" for key, value in example["attrs"].items())
        console.print(f"example ({example['dtype']}, {attrs}{groups}):", markup=False)
        console.print(f"    {example['blocks']}\n    gives {example['results']}", markup=False)


def _clauses(console: Console, answers: Data, ids: Iterable[str]) -> None:
    for id in ids:
        clause = answers["clauses"][id]
        console.print(f"  {id:<20} {clause['requirement']:<7}{clause['text']}", markup=False)


def show_clause(console: Console, answers: Data, clause: Data) -> None:
    """Print a clause: its source, what systems say otherwise, what frameworks do otherwise, and where it stands."""
    console.print(f"[bold]{clause['id']}[/bold] ({clause['requirement']}, suite {clause['suite']})")
    console.print(clause["text"], markup=False)
    console.print(f"source: {clause['described']}", markup=False)
    if "guarantee" in clause:
        console.print(f"a must for backends that give the guarantee {clause['guarantee']}", markup=False)
    for source, text in clause.get("divergences", {}).items():
        said = "says nothing" if source in clause["silent"] else "says otherwise"
        console.print(f"{source} {said}: {text}", markup=False)
    for row in answers["names"]:
        if clause["id"] in row["clauses"] and row["relation"] == "otherwise":
            title = ", ".join(each for each in (row["name"], row["aspect"]) if each)
            console.print(f"{row['framework']} {title}: {row['difference']}", markup=False)
    places = (clause.get("defined"), clause.get("checked"), f"docs/{clause['link']}")
    words = ("defined in", "checked in", "written in")
    console.print(
        ", ".join(f"{word} {place}" for word, place in zip(words, places, strict=True) if place), markup=False
    )


def _rule(console: Console, answers: Data, rule: Data) -> None:
    console.print(f"[bold]{rule['id']}[/bold] ({rule['file']}, {rule['place']}; {rule['version']})")
    console.print(rule["text"], markup=False)
    if rule["answer"] != "clauses":
        console.print(f"{rule['answer']}: {rule['note']}", markup=False)
        return
    console.print("Said by:")
    _clauses(console, answers, rule["clauses"])
    if rule["note"]:
        console.print(f"note: {rule['note']}", markup=False)
    console.print(f"judged on it: {', '.join(rule['judged'])}", markup=False)


def _source(console: Console, answers: Data, source: Data) -> None:
    console.print(answers["described"][source["name"]], markup=False)
    console.print(f"settles {source['settles']}", markup=False)
    short = source["name"].partition(".")[2]
    for row in answers["names"]:
        if short and row["name"].rpartition(".")[2] == short and source["name"].startswith(row["framework"]):
            _rows(console, [row], named=True)
    console.print("Cited by:")
    _clauses(console, answers, answers["cited_by"][source["name"]])
