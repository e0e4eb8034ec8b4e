"""What ``conformance spec`` prints for people."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from conformance.cli.spec_search import MatchingSentence

Data = dict[str, Any]

MOST_ENTRIES: Final = 12
"""Entries of a word that are printed with the texts of their clauses; of further ones the titles are listed."""


def show(console: Console, answers: Data, kind: str, found: Any, *, whole: bool = False) -> None:
    """Print what a word leads to; of an operation the clauses that it shares with others only where ``whole``."""
    if kind == "operation":
        op, entries, own = found
        if own:
            show_operation(console, answers, op, whole=whole)
            _listed(console, answers, entries, op)
        else:
            show_entries(console, answers, entries)
            show_head(console, answers, op, {id for each in entries for id in each["clauses"]})
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


def show_sentences(console: Console, found: Iterable[MatchingSentence]) -> None:
    """Print sentences that a search found."""
    for name, text, _ in found:
        console.print(f"{name:<24} {text}", markup=False)


def show_entries(console: Console, answers: Data, entries: list[Data]) -> None:
    """Print entries of the index: names by their rows, the others by what is said, and their clauses."""
    for entry in entries[:MOST_ENTRIES]:
        console.print(f"[bold]{escape(entry['title'])}[/bold] ({entry['kind']})")
        if entry["kind"] == "name":
            framework, name = entry["title"].split(": ", 1)
            _rows(console, _rows_of(answers, framework, name))
        elif entry["kind"] == "framework":
            _rows(console, [row for row in answers["names"] if row["framework"] == entry["title"]])
        else:
            console.print(entry["text"], markup=False)
        members = [id for id in answers["clauses"] if id.startswith(f"{entry['title']}.")]
        _clauses(console, answers, members if entry["kind"] == "clauses" else entry["clauses"])
        console.print(f"  docs/{entry['link']}", markup=False)
    if len(entries) > MOST_ENTRIES:
        console.print(f"also: {', '.join(each['title'] for each in entries[MOST_ENTRIES:])}", markup=False)


def _listed(console: Console, answers: Data, entries: list[Data], op: str) -> None:
    """Print the names that frameworks have by the same word, and what else the word leads to, without clauses.

    Rows of what is otherwise than the operation are left out: they are printed with it.
    """
    printed = [row for row in _otherwise(answers) if row["operation"] == op]
    for entry in entries:
        if entry["kind"] == "name":
            framework, name = entry["title"].split(": ", 1)
            rows = [row for row in _rows_of(answers, framework, name) if row not in printed]
            _rows(console, rows, of=f"{framework} ")
    also = [f"{each['title']} ({each['kind']})" for each in entries if each["kind"] != "name"]
    if also:
        console.print(f"also: {', '.join(also)}", markup=False)


def _rows_of(answers: Data, framework: str, name: str) -> list[Data]:
    return [row for row in answers["names"] if (row["framework"], row["name"]) == (framework, name)]


def _rows(console: Console, rows: list[Data], *, of: str = "") -> None:
    for row in rows:
        console.print(f"  {of}{row['sentence']}", markup=False)


def _otherwise(answers: Data) -> list[Data]:
    return [row for row in answers["names"] if row["relation"].startswith("otherwise")]


def show_head(console: Console, answers: Data, name: str, printed: Collection[str]) -> None:
    """Print what an operation does, those of its own clauses that are not printed yet, and how to see the rest."""
    op = answers["operations"][name]
    console.print(f"[bold]{name}[/bold]: {escape(op['summary'])}")
    _clauses(console, answers, [id for id in op["clauses"] if id not in printed])
    console.print(f"`conformance spec {name}` prints its method, examples and names.", markup=False)


def show_operation(console: Console, answers: Data, name: str, *, whole: bool) -> None:
    """Print an operation: how it is called, what it does, its names and its clauses, or ids of those that it shares."""
    op = answers["operations"][name]
    console.print(f"[bold]{name}[/bold]: {escape(op['summary'])}")
    attributes = ", ".join(f"{attribute}: {kind}" for attribute, kind in op["attributes"].items())
    console.print(f"attributes: {escape(attributes) or 'none'}")
    console.print(f"method: {op['method']}", markup=False)
    if op["notes"]:
        console.print(op["notes"].replace("``", "`"), markup=False)
    for framework, names in op["aliases"].items():
        console.print(f"{framework}: {', '.join(names)}", markup=False)
    for row in _otherwise(answers):
        if row["operation"] == name:
            _rows(console, [row], of=f"{row['framework']} ")
    for line in op["picture"]:
        console.print(line, markup=False)
    _clauses(console, answers, op["clauses"])
    if whole:
        console.print("Shared with other operations:")
        _clauses(console, answers, op["shared"])
    else:
        shared = f"Shared with other operations: {len(op['shared'])} clauses"
        console.print(f"{shared}; `conformance spec {name} --all` prints them.", markup=False)
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
    for row in _otherwise(answers):
        if clause["id"] in row["clauses"]:
            console.print(f"{row['framework']} {row['sentence']}", markup=False)
    if "mutants" in clause:
        console.print(f"kills the mutants {', '.join(clause['mutants'])}", markup=False)
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
            _rows(console, [row])
    console.print("Cited by:")
    _clauses(console, answers, answers["cited_by"][source["name"]])
