"""The page of a report leads from a clause to the specification, and the specification back to reports."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.report import Report, clause_texts
from conformance.report.formats.html import as_html
from conformance.report.write import _documents
from conformance.specification.document import pages
from conformance.specification.families import document_of
from conformance.specs import OPS, SHARED


def test_a_clause_of_the_page_has_its_place_in_the_specification(sample_report: Report) -> None:
    clauses = clause_texts(OPS.values(), SHARED, documented=document_of)
    assert {text.document.partition("#")[0] for text in clauses} == {"specification.md"}
    page = as_html(replace(sample_report, clauses=clauses), "reports/", "../docs/")
    packed = re.search(r'data-encoding="gzip"[^>]*>([^<]+)<', page) or re.search(r">(H4sI[^<]+)<", page)
    data = gzip.decompress(base64.b64decode(packed[1])).decode() if packed else page
    assert '"documents":"../docs/"' in data


def test_the_way_to_the_specification_is_that_of_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _documents("reports/") == ""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "specification.md").write_text("")
    assert [_documents(folder) for folder in ("reports/", "runs/mine/", "")] == ["../docs/", "../../docs/", ""]


def test_the_specification_leads_to_reports() -> None:
    assert "(../reports/README.md)" in pages()["specification.md"]
