"""Text out of a file is text in every form of a report: each has the structure that it has under plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import inspect
from msgspec.structs import replace

from conformance.cli import main
from conformance.report import Report
from conformance.report.failures.findings import script_of
from conformance.report.formats.badge import badge, badge_names
from conformance.report.formats.html import as_html
from conformance.report.formats.json import as_json, parse_json
from conformance.report.formats.junit import as_junit
from conformance.report.formats.markdown import as_markdown
from conformance.report.formats.markdown_text import code, escaped, link, marked
from conformance.runner.records.record import BackendEntry
from tests.report.conftest import unfolded

ATTACKS = (
    "`<img src=x onerror=alert(1)>`",
    "``` <script>alert(1)</script> ```",
    "</code></script><script>alert(1)</script><!--",
    "[click](javascript:alert(1)) ![x](http://x/y.png)",
    "<http://x.example> https://x.example www.x.example <a@b.example>",
    "]]> & &amp; &#60; \"quoted\" 'single' > <",
    "a | b || c \\| d \\\\| e",
    "line\nend\r\n\r\n# heading\n\n    code\n\n- list\n1. list\n> quote\n***\n===\n---\n| a |\n|---|",
    "- [ ] task",
    "1. one",
    "=====",
    "-----",
    "+ plus",
    "**bold** __bold__ *i* _i_ ~~gone~~ $x$ \\",
    "[^1]: note [x]: http://x.example 'title'",
    "\x1b[31mred\x07\x00\x9b \u202eright to left\u2066 \u2028 \u2029 \ufffe \x85",
    "[red]rich[/red] [link=http://x.example]x[/link] :smile:",
    "{{ 7*7 }} {% raw %} ${x} %s {0}",
    "=cmd|' /C calc'!A0",
    "../../../etc/passwd",
    "javascript:alert(1)",
    '" onmouseover="alert(1)" x="',
    "   ",
    "",
)


def filled(kind: Any, text: str, name: str = "") -> Any:
    """Return a value of a type in which every text is ``text``, whatever field it is of."""
    made = 2 if name == "of" else CONSTANTS.get(type(kind), kind)  # one failure of two runs is a flake
    match kind:
        case inspect.StrType():
            made = SHAPED[name](text) if name in SHAPED else text
        case inspect.LiteralType(values=values):
            made = values[0]
        case inspect.UnionType(types=types):
            made = filled(types[0], text, name)
        case inspect.Metadata(type=of):
            made = filled(of, text, name)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            made = (filled(item, text, name),)
        case inspect.TupleType(item_types=items):
            made = tuple(filled(item, text) for item in items)
        case inspect.DictType(key_type=key, value_type=value):
            made = {filled(key, text): filled(value, text)}
        case inspect.StructType(cls=cls, fields=fields):
            made = cls(**{field.name: filled(field.type, text, field.name) for field in fields})
    assert made is not kind
    return made


def address(text: str) -> str:
    """Return an address that a log may have, with what it may have of ``text``."""
    return "https://x.example/" + "".join(each for each in text if not each.isspace() and each not in "<>")


SHAPED: dict[str, Callable[[str], str]] = {
    "link": address,
    "issue": address,
    "url": address,
    "script": lambda _: "x.py",
    "case": lambda _: "shift/int32-2/0123456789ab",
    "shows": re.escape,
}
"""Texts that have a form, which is looked at when a file is read."""

CONSTANTS: dict[Any, Any] = {
    inspect.DateType: date(2999, 12, 31),
    inspect.BoolType: True,
    inspect.IntType: 1,
    inspect.FloatType: 1.0,
}


def report_of(text: str) -> Report:
    """Return a report all of whose texts are ``text``, with a row for the operation, and failures known and new."""
    made = filled(inspect.type_info(Report), text)
    whole = tuple(replace(cell, clause=None) for cell in made.cells)
    new = tuple(replace(bucket, known=None, clause=None) for bucket in made.buckets)
    survivors = tuple(replace(mutant, killed=False) for mutant in made.mutants)
    findings = tuple(replace(found, known=None, sequence=()) for found in made.findings)
    return replace(
        made,
        cells=(*whole, *made.cells),
        buckets=(*made.buckets, *new),
        mutants=(*made.mutants, *survivors),
        findings=(*made.findings, *findings),
    )


PLAIN = "plain"


def markdown_shape(text: str) -> list[Any]:
    def of(token: Token) -> Any:
        inside = [each.type for each in token.children or () if each.type not in ("text", "text_special")]
        return token.type, token.tag, token.level, inside

    tokens = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text)
    return [of(token) for token in tokens]


class Shape(HTMLParser):
    """The elements and attributes of a page, in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen: list[Any] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, [name for name, _ in attrs]))
        for name, value in attrs:
            assert not (name in ("href", "src") and (value or "").lower().startswith(("javascript", "data:text")))

    def handle_endtag(self, tag: str) -> None:
        self.seen.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.seen.append(f"comment {data}")


def html_shape(text: str) -> list[Any]:
    shape = Shape()
    shape.feed(text)
    shape.close()
    return shape.seen


def xml_shape(text: str) -> list[Any]:
    return [(one.tag, sorted(one.attrib)) for one in ElementTree.fromstring(text).iter()]


def page_shape(report: Report) -> list[Any]:
    page = as_html(report)
    (data,) = re.findall(r'id="data" data-encoding="json">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data)["backends"] == [backend.label for backend in report.backends]
    return html_shape(unfolded(page).replace(data, ""))


def json_shape(report: Report) -> list[Any]:
    assert parse_json(as_json(report).encode()).findings == report.findings
    return [as_json(report).count("\n")]


def file_shape(report: Report) -> list[Any]:
    """Return how the names of files are made that a report has beside itself."""
    names = (*badge_names(report.backends), *(script_of(found).partition("/")[2] for found in report.findings))
    return [re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,250}", name) is not None for name in names]


SHAPES: dict[str, Callable[[Report], list[Any]]] = {
    "markdown": lambda report: markdown_shape(as_markdown(report)),
    "html": page_shape,
    "junit": lambda report: xml_shape(as_junit(report)),
    "badge": lambda report: [xml_shape(badge(one)) for one in report.backends],
    "json": json_shape,
    "files": file_shape,
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("form", SHAPES)
def test_a_form_has_the_structure_that_it_has_under_plain_text(form: str, attack: str) -> None:
    for text in (attack, f"a{attack}a"):
        if "".join(text.split()):  # what is no text at all leaves its place out
            assert SHAPES[form](report_of(text)) == plain_shape(form)


@cache
def plain_shape(form: str) -> list[Any]:
    return SHAPES[form](report_of(PLAIN))


def test_an_empty_text_breaks_no_form() -> None:
    for text in ("", "   "):
        for form, shape in SHAPES.items():
            if form != "json":  # which is read again: a known failure has a backend
                shape(report_of(text))


@pytest.mark.parametrize("attack", ATTACKS)
def test_markdown_shows_a_text_as_it_is(attack: str) -> None:
    if line := " ".join(attack.split()):
        (paragraph,) = (t for t in MarkdownIt("commonmark").parse(escaped(attack)) if t.type == "inline")
        shown = "".join(child.content for child in paragraph.children or ())
        assert shown == (line if line.isprintable() else shown)
        (paragraph,) = (t for t in MarkdownIt("commonmark").parse(code(attack)) if t.type == "inline")
        assert [child.type for child in paragraph.children or ()] == ["code_inline"]


@pytest.mark.parametrize(
    "target", ["javascript:alert(1)", "data:text/html,x", "//x", "a b", "", "http:x", "\\x", "a:b"]
)
def test_only_a_web_address_or_a_file_beside_the_report_is_a_link(target: str) -> None:
    assert link("x", target) == "x"


@pytest.mark.parametrize("target", ["javascript:alert(1)", "data:text/html,x", "https://x.example/ <b>"])
def test_the_page_has_no_other_link_either(target: str) -> None:
    report = report_of(PLAIN)
    found = tuple(replace(one, script=target, link=target) for one in report.findings)
    assert f'href="{target}' not in unfolded(as_html(replace(report, findings=found)))


def test_what_is_markdown_already_is_not_escaped_again() -> None:
    assert marked("{} {} {}", marked("**{}**", "*"), "*", link("a|b", "https://x.example/)`")) == (
        r"**\*** \* [a\|b](<https://x.example/)%60>)"
    )


@pytest.mark.parametrize("attack", [each for each in ATTACKS if each.strip()])
def test_a_log_is_told_on_a_terminal_as_text_alone(
    attack: str, tiny: Callable[..., Path], record: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    entry = BackendEntry(name=attack, description={attack: attack}, claims={attack: {attack: [attack]}})
    bad = record("x", backend=attack, outcome="crashed", clauses={attack: "broken"}, blame=attack, detail=attack)
    folder = tiny(
        bad, backends=(entry,), profile=attack, started=attack, spec_digest=attack, environment={attack: attack}
    )
    assert main(["report", str(folder), "-o", str(folder / "out")]) in (1, 3)
    said = capsys.readouterr()
    assert all(character.isprintable() or character == "\n" for character in said.out + said.err)
    shown = " ".join(attack.split())
    assert "[red]" not in shown or "[red]rich[/red] [link=http://x.example]x[/link] :smile:" in said.out
    allowed = {"index.html", "report.json", "report.md", "junit.xml", "ctrf.json"}
    assert all(file.name in allowed or file.suffix == ".svg" for file in (folder / "out").iterdir())
