"""The page: self-contained, closed to the network, safe with hostile text, small when it opens."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable
from datetime import date
from html.parser import HTMLParser
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.report import ClauseText, Explanation, Mutant, Qualification, Report, read_run, summarise
from conformance.report.formats import html
from conformance.report.formats.html import as_html
from conformance.runner.records.record import BackendEntry

HOSTILE = "</script><script>alert(1)</script><!--\"'`${x}&lt;\u2028\x00\x1b\u202e"


class Page(HTMLParser):
    """The elements of a page, their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, Any]]] = []
        self.raw: list[tuple[str, dict[str, Any], str]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        tag, attrs = self.elements[-1] if self.elements else ("", {})
        if self.cdata_elem in ("script", "style"):
            self.raw.append((tag, attrs, data))
        else:
            self.words.append(data)


def data_of(page: Page) -> dict[str, Any]:
    attrs, text = next((attrs, text) for _, attrs, text in page.raw if attrs.get("id") == "data")
    return json.loads(gzip.decompress(base64.b64decode(text)) if attrs["data-encoding"] == "gzip" else text)


def texts_of(text: str) -> list[str]:
    return [word.strip() for word in Page(text).words]


@pytest.fixture(scope="module")
def page(sample_report: Report) -> Page:
    return Page(as_html(sample_report))


def test_nothing_is_loaded_from_elsewhere(page: Page) -> None:
    for tag, attrs in page.elements:
        assert tag not in {"iframe", "object", "embed", "img", "base", "form[action]"}
        assert "src" not in attrs
        assert tag != "link" or attrs["href"] == "data:,"
        assert not any(name.startswith("on") or name == "style" for name in attrs), (tag, attrs)
    for _, attrs, text in page.raw:
        if attrs.get("type") != "application/json":
            assert not re.search(r"https?:|@import|url\(|innerHTML|fetch\(|eval\(|import ", text)


def test_the_policy_allows_exactly_the_scripts_and_style_inside(page: Page) -> None:
    policy = next(attrs["content"] for tag, attrs in page.elements if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none';")
    for tag, attrs, text in page.raw:
        if attrs.get("type") != "application/json":
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy, tag


def test_the_scripts_stay_small(page: Page) -> None:
    assert sum(len(text) for tag, attrs, text in page.raw if tag == "script" and "type" not in attrs) < 40_000


def test_every_operation_is_there_without_scripts_in_words(page: Page, sample_report: Report) -> None:
    links = [attrs["href"] for tag, attrs in page.elements if attrs.get("class", "").startswith("cell ")]
    assert len(links) == len(set(links)) == sum(cell.clause is None for cell in sample_report.cells)
    assert "#/cell/steady/all_gather" in links
    text = " ".join(page.words)
    assert all(word in text for word in ("Not conformant", "pass", "fail", "unsupported"))


def test_every_failure_has_its_case_and_its_command(sample_report: Report) -> None:
    data = data_of(Page(as_html(sample_report, "reports/")))
    for number, bucket in enumerate(sample_report.buckets):
        assert f"conformance replay reports/{bucket.file} -b {bucket.name}" in data["parts"][f"bucket-{number}"]
        assert data["buckets"][number]["case"] == bucket.case
    assert {found.title for found in sample_report.findings} <= set(texts_of(as_html(sample_report)))
    for number, found in enumerate(sample_report.findings):
        assert found.cause in data["parts"][f"finding-{number}"].replace("&#39;", "'")


def test_of_many_findings_and_clauses_the_page_opens_with_few_nodes(sample_report: Report) -> None:
    many = replace(sample_report, findings=sample_report.findings * 300)
    page = Page(as_html(many))
    assert len(page.elements) < 3000
    assert sum(attrs.get("class") == "finding" for _, attrs in page.elements) == html.SHOWN_FINDINGS
    assert data_of(page)["parts"]["more"].count("<li>") == len(many.findings) - html.SHOWN_FINDINGS


def test_tables_have_captions_and_scopes(page: Page) -> None:
    elements = [*page.elements, *(each for part in data_of(page)["parts"].values() for each in Page(part).elements)]
    tags = [tag for tag, _ in elements]
    assert tags.count("table") == tags.count("caption") > 10
    assert all("scope" in attrs for tag, attrs in elements if tag == "th")


def test_the_data_counts_what_the_report_counts(page: Page, sample_report: Report) -> None:
    data = data_of(page)
    totals = sum(numbers[0] for row in data["rows"] for tallies in row["tallies"] for numbers in tallies.values())
    assert totals == sum(cell.tally.cases for cell in sample_report.cells)


def test_large_data_travels_compressed(monkeypatch: pytest.MonkeyPatch, sample_report: Report, page: Page) -> None:
    monkeypatch.setattr(html, "COMPRESSED", 1000)
    packed = Page(as_html(sample_report))
    assert data_of(packed) == data_of(page)


def test_hostile_strings_stay_text(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    entry = BackendEntry(name=HOSTILE, description={HOSTILE: HOSTILE}, claims={HOSTILE: {HOSTILE: [HOSTILE]}})
    bad = record(HOSTILE, backend=HOSTILE, outcome="failed", blame=HOSTILE, detail=HOSTILE, op=HOSTILE, dtype=HOSTILE)
    run = read_run(tiny(bad, backends=(entry,), environment={HOSTILE: HOSTILE}, profile=HOSTILE, started=HOSTILE))
    explanation = Explanation(
        backends=(HOSTILE,), causes=(HOSTILE,), sentence=HOSTILE, owner=HOSTILE, expiry=date(2999, 12, 31)
    )
    mutant = Mutant(name=HOSTILE, killed=True, clause=HOSTILE, doc=HOSTILE)
    page = Page(
        as_html(summarise([run], specification, explanations=[explanation], qualification=Qualification((mutant,))))
    )
    assert [attrs.get("type") for tag, attrs in page.elements if tag == "script"] == [None, "application/json", None]
    assert any(row["op"] == HOSTILE for row in data_of(page)["rows"])
    parts = data_of(page)["parts"]
    assert not any(tag == "script" for part in parts.values() for tag, _ in Page(part).elements)
    assert not any(character in text for text in (*parts.values(), *page.words) for character in "\x1b\u202e")


def test_an_incomplete_run_is_loud(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    text = as_html(summarise([read_run(tiny(record("a"), footer=False))], specification))
    assert 'class="warning" role="alert"' in text
    assert "Incomplete run" in text
    assert "Conformant" not in text


def luminance(colour: str) -> float:
    digits = colour * 2 if len(colour) == 3 else colour
    channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [0, 1, 2])
@pytest.mark.parametrize("ink", ["ink", "soft", "link", "pass", "fail", "should", "differs"])
def test_text_has_the_contrast_that_wcag_aa_asks_for(page: Page, theme: int, ink: str) -> None:
    style = next(text for tag, _, text in page.raw if tag == "style")
    tokens = dict(re.findall(r"--([a-z-]+): #([0-9a-f]+)", re.findall(r"--paper[^}]*", style)[theme]))
    grounds = ["paper", "card", "faint"] if ink in {"ink", "soft", "link"} else [f"{ink}-on", "card", "paper"]
    for ground in grounds:
        bright, dark = sorted((luminance(tokens[ink]), luminance(tokens[ground])), reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5, (ink, ground)
