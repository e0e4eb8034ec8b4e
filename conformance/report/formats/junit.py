"""The report as JUnit XML: a suite for each backend and operation, a test case for each clause."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final
from xml.etree import ElementTree

from conformance.report.formats.words import figure
from conformance.report.summary import MARK, BackendSummary, Bucket, Cell, Report
from conformance.runner.outcomes import FAILING

_ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""

_CRASHES: Final = FAILING - {"failed"}


def as_junit(report: Report) -> str:
    """Return the report as JUnit XML.

    A *must* clause to blame is a failure, or an error when the backend raised, crashed or hung. A broken *should*
    passes and says so in its output; unsupported, shadowed, not run and known failures are skipped; an incomplete run
    is an error, and so is each flaky case; a known failure that is not as expected is a failure.
    """
    root = ElementTree.Element("testsuites", name=MARK)
    unmet = [one for one in report.known if not one.expected.met]
    for backend in report.backends:
        _whole_run(root, backend)
        _flaky(root, backend)
        cells = [cell for cell in report.cells if cell.backend == backend.label]
        buckets = [bucket for bucket in report.buckets if bucket.backend == backend.label]
        for op in dict.fromkeys(cell.op for cell in cells):
            suite = ElementTree.SubElement(root, "testsuite", name=xml_text(f"{backend.label}.{op}"))
            for cell in cells:
                if cell.op == op and cell.clause is not None:
                    says = [
                        f"{one.expected.where}: {one.case} {one.expected.says}"
                        for one in unmet
                        if (one.backend, one.op, one.expected.known.clause) == (backend.label, op, cell.clause)
                    ]
                    _clause(suite, cell, [b for b in buckets if b.op == op and b.clause == cell.clause], says)
            for bucket in buckets:
                if bucket.op == op and bucket.clause is None:
                    _problem(_testcase(suite, suite.get("name", ""), "no clause to blame"), [bucket])
    for suite in root:
        _count(suite)
    _count(root)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _whole_run(root: ElementTree.Element, backend: BackendSummary) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=xml_text(f"{backend.label}.run"))
    case = _testcase(suite, suite.get("name", ""), "the run is complete")
    if not backend.complete or not backend.cases:
        ElementTree.SubElement(case, "error", type="incomplete", message=xml_text(" ".join(backend.why)))


def _flaky(root: ElementTree.Element, backend: BackendSummary) -> None:
    if backend.flaky:
        suite = ElementTree.SubElement(root, "testsuite", name=xml_text(f"{backend.label}.flaky"))
        for one in backend.flaky:
            case = _testcase(suite, suite.get("name", ""), one.case)
            ElementTree.SubElement(case, "error", type="flaky", message=xml_text(one.detail))


def _clause(suite: ElementTree.Element, cell: Cell, buckets: list[Bucket], unmet: list[str]) -> None:
    case = _testcase(suite, suite.get("name", ""), cell.clause or "")
    new = [bucket for bucket in buckets if bucket.known is None]
    if cell.state == "fail" or unmet:
        broken = f"broken in {figure(cell)} cases" if cell.state == "fail" else ""
        _problem(case, new, "; ".join(filter(None, (*unmet, broken))))
    elif cell.state == "known":
        message = "; ".join(bucket.known.words for bucket in buckets if bucket.known)
        ElementTree.SubElement(case, "skipped", message=xml_text(f"broken in {figure(cell)} cases, {message}"))
    elif cell.state in ("should_fail", "differs"):
        lines = [f"{'should' if cell.state == 'should_fail' else 'may'}: broken in {figure(cell)} cases"]
        ElementTree.SubElement(case, "system-out").text = xml_text("\n".join([*lines, *map(_text, new)]))
    elif cell.state != "pass":
        ElementTree.SubElement(case, "skipped", message=cell.state.replace("_", " "))


def _problem(case: ElementTree.Element, buckets: list[Bucket], message: str = "") -> None:
    worst = next((bucket.outcome for bucket in buckets if bucket.outcome in _CRASHES), "failed")
    kind = "error" if worst in _CRASHES else "failure"
    first = " ".join(buckets[0].detail.split()) if buckets else ""
    found = ElementTree.SubElement(case, kind, type=worst, message=xml_text("; ".join(filter(None, (message, first)))))
    found.text = xml_text("\n".join(map(_text, buckets)))


def _text(bucket: Bucket) -> str:
    return f"{bucket.outcome} in {bucket.cases} cases, smallest {bucket.case}: {bucket.detail}"


def _testcase(suite: ElementTree.Element, classname: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=classname, name=xml_text(name))


def _count(element: ElementTree.Element) -> None:
    cases = list(element.iter("testcase"))
    kinds: Iterable[str] = (child.tag for case in cases for child in case)
    counted = Counter(kinds)
    element.set("tests", str(len(cases)))
    element.set("failures", str(counted["failure"]))
    element.set("errors", str(counted["error"]))
    element.set("skipped", str(counted["skipped"]))


def xml_text(text: str) -> str:
    """Return ``text`` without the characters that XML cannot hold."""
    return _ILLEGAL.sub("�", text)
