"""The names of frameworks as tables."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.specification.framework_names import FRAMEWORKS, NAMES, RELATIONS, FrameworkName


def names_of(operation: str) -> tuple[FrameworkName, ...]:
    """Return the rows whose form is a call of an operation."""
    return tuple(name for name in NAMES if name.operation.removeprefix("start ").split(" ")[0] == operation)


def operation_name_lines(operation: str) -> list[str]:
    """Return the lines on what frameworks call an operation, or none."""
    found = names_of(operation)
    if not found:
        return []
    return [
        "**Names.** [What the relations mean](specification-index.md#names-of-frameworks)",
        "",
        *_table(found, with_framework=True),
    ]


def name_lines() -> list[str]:
    """Return the lines of the chapter on the names of frameworks."""
    lines = [
        "## Names of frameworks",
        "",
        "What frameworks call what this specification says, our form of it, and whether both mean the same:",
        "",
        "| relation | what it says |",
        "| --- | --- |",
        *[f"| *{relation}* | {text} |" for relation, text in RELATIONS.items()],
        "",
    ]
    for framework, version in FRAMEWORKS.items():
        rows = [name for name in NAMES if name.framework == framework]
        lines += [f"### Names of {framework}", "", f"{version}.", "", *_table(rows)]
    return lines


def anchor_of(name: FrameworkName) -> str:
    """Return the anchor of the first row of a name."""
    kept = "".join(each if each.isalnum() else "-" for each in name.name.lower()).strip("-")
    return f"name-{name.framework}-{kept}"


def _table(rows: Iterable[FrameworkName], *, with_framework: bool = False) -> list[str]:
    first = "framework | " if with_framework else ""
    lines = [f"| {first}name | our form | relation | what to know | clauses |"]
    lines.append("|" + " --- |" * (6 if with_framework else 5))
    anchored: set[str] = set()
    for row in rows:
        anchor = anchor_of(row)
        mark = "" if with_framework or anchor in anchored else f'<a id="{anchor}"></a>'
        anchored.add(anchor)
        name = f"{mark}`{row.name}`" + (f", {row.aspect}" if row.aspect else "")
        known = " ".join(each for each in (row.difference, f"*{row.status}*" if row.status else "") if each)
        ours = f"`{row.ours}`" if row.ours else "none"
        cells = [name, ours, f"*{row.relation}*", known, ", ".join(f"`{clause}`" for clause in row.clauses)]
        lines.append(
            f"| {' | '.join([row.framework, *cells] if with_framework else cells).replace('||', chr(92) + '|' * 2)} |"
        )
    return [*lines, ""]
