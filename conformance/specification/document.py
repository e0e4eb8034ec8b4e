"""The specification as Markdown: pages on operations, graphs, schedules, types and transposes, and sharded tensors."""

from __future__ import annotations

from typing import Final

from conformance import SPECIFICATION_VERSION
from conformance.reference.operations import OPERATIONS
from conformance.specification.clause_table import clause_lines
from conformance.specification.evaluation import EVALUATING
from conformance.specification.families import FAMILIES
from conformance.specification.functions import called_lines
from conformance.specification.graphs import graph_lines
from conformance.specification.index_page import index_lines
from conformance.specification.links import linked
from conformance.specification.notation import notation_lines
from conformance.specification.operation import operation_lines
from conformance.specification.schedules import schedule_lines
from conformance.specification.sharding import sharding_lines
from conformance.specification.sources import SOURCES
from conformance.specification.types import type_lines
from conformance.specification.words import REQUIREMENTS, WORDS
from conformance.specs import OPS, SHARED

WRITTEN: Final = "This file is written by `conformance spec --markdown`; a test keeps it equal to the clauses."


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    return linked(
        {
            "specification.md": _text(_operations()),
            "specification-graphs.md": _text(_graphs()),
            "specification-schedules.md": _text(_schedules()),
            "specification-types.md": _text(_types()),
            "specification-sharding.md": _text(_sharding()),
            "specification-index.md": _text(_index()),
        }
    )


def _text(lines: list[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _operations() -> list[str]:
    return [
        "# Specification",
        "",
        f"Version {SPECIFICATION_VERSION}; [versions](versions.md) says what changes the number.",
        "",
        "What programs on several devices mean: collectives, the storage they write, their order, and their numbers.",
        "The Python function beside each operation is its meaning: it computes the result of every rank. The clauses",
        "say the same in sentences, each of which is tested. Where a function folds numbers that round, it "
        "shows one right",
        "order of many: any tree over the terms is right (`numerics.C1`), and a fold from the left is one of them.",
        "",
        "[The index](specification-index.md) leads from the words of frameworks, from topics and from our own words to",
        "clauses, and says what is outside. `conformance spec WORD` prints the same. [A tutorial](tutorial.md) of ten",
        "minutes begins with one question. [Reports](../reports/README.md) show which implementation keeps which",
        "clause.",
        "",
        "Other pages are about [graphs of tensor operations](specification-graphs.md),",
        "[schedules](specification-schedules.md), [types of mesh axes and transposes](specification-types.md) and",
        "[sharded tensors](specification-sharding.md).",
        "",
        WRITTEN,
        "",
        *_words(),
        *notation_lines(),
        "## Operations",
        "",
        *[f"- [{op.name}](#{op.name}): {op.summary}" for op in OPS.values()],
        "",
        *[line for op in OPS.values() for line in operation_lines(op)],
        "## Clauses that several operations share",
        "",
        *_families(),
        "## Functions that operations call",
        "",
        *called_lines((*OPERATIONS.values(), *EVALUATING)),
        *_sources(),
    ]


def _words() -> list[str]:
    return [
        "## Words and notation",
        "",
        "| requirement | what it asks |",
        "| --- | --- |",
        *[f"| *{name}* | {text} |" for name, text in REQUIREMENTS.items()],
        "",
        "A clause has an id, `all_gather.C2`, that never changes and is never used again. Its source is who says so;",
        "[Sources](#sources) lists them.",
        "",
        "| word | meaning |",
        "| --- | --- |",
        *[f'| <a id="word-{name.replace(" ", "-")}"></a>{name} | {word.meaning} |' for name, word in WORDS.items()],
        "",
    ]


def _families() -> list[str]:
    lines: list[str] = []
    for family in dict.fromkeys(clause.id.partition(".")[0] for clause in SHARED):
        clauses = [clause for clause in SHARED if clause.id.partition(".")[0] == family]
        lines += [f"### Clauses of {family}", "", FAMILIES[family].summary, "", *clause_lines(clauses)]
    return lines


def _sources() -> list[str]:
    lines = ["## Sources", "", "| name | document | version | section | licence | what it settles |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for source in SOURCES.values():
        text = source.document
        lines.append(
            f"| `{source.name}` | {text.title} (`{text.file}`) | {text.version} | {source.section} | {text.licence} | "
            f"{source.settles} |"
        )
    return lines


def _index() -> list[str]:
    return [
        "# Specification: the index",
        "",
        "Words of frameworks, of people who ask, and of this specification, each with the clauses that answer.",
        "",
        WRITTEN,
        "",
        *index_lines(),
    ]


def _types() -> list[str]:
    return [
        "# Specification: types of mesh axes, and transposes",
        "",
        "Which programs are well typed, and what cotangents of results come to at the inputs.",
        "[specification.md](specification.md) has the words and the operations.",
        "",
        WRITTEN,
        "",
        *type_lines(),
    ]


def _graphs() -> list[str]:
    return [
        "# Specification: graphs of tensor operations",
        "",
        "What a lazy graph of tensor operations is worth, round by round.",
        "[specification.md](specification.md) has the words.",
        "",
        WRITTEN,
        "",
        *graph_lines(),
    ]


def _sharding() -> list[str]:
    return [
        "# Specification: sharded tensors",
        "",
        "What programs on logical tensors are worth when their parts are on several devices.",
        "[sharding.md](sharding.md) has the form of placements and cases, and [specification.md](specification.md) the",
        "words.",
        "",
        WRITTEN,
        "",
        *sharding_lines(),
    ]


def _schedules() -> list[str]:
    return [
        "# Specification: schedules",
        "",
        "What a schedule may and may not do with a graph. [schedules.md](schedules.md) has the form that the clauses",
        "read, and [specification.md](specification.md) the words.",
        "",
        WRITTEN,
        "",
        *schedule_lines(),
    ]
