"""The verifier mutated: each of its checks has a forgery that it alone finds; and what it says of waivers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conformance.certificate import bundle, checks, entries, recomputed
from conformance.certificate.bundle import SUMMARIES, read_bundle
from conformance.certificate.error import CertificateError
from conformance.certificate.page import BADGE, PAGE
from conformance.certificate.product import ProductFile, Waiver
from tests.certificate.conftest import PRODUCT, Vendor, Wrong, certified, forged, verified
from tests.certificate.forgeries import (
    GONE,
    WAIVER,
    another_badge,
    another_page,
    another_suite,
    entry,
    outside,
    plain,
    renamed,
    said,
    silent,
    stripped,
    with_a_case,
)

ALONE: dict[str, Callable[[Path, Vendor], None]] = {
    "form": lambda folder, vendor: forged(folder, vendor.key, whole=lambda found: found.update(_type="urn:x")),
    "signatures": lambda folder, vendor: stripped(folder, folder),
    "suite": lambda folder, vendor: forged(folder, vendor.key, said=another_suite),
    "product": lambda folder, vendor: forged(folder, vendor.key, said=lambda found: found.update(waivers=[WAIVER])),
    "seed": lambda folder, vendor: forged(folder, vendor.key, said=renamed),
    "floor": lambda folder, vendor: forged(folder, vendor.key, said=outside),
    "times": lambda folder, vendor: forged(folder, vendor.key, **said(finished="2020-01-01T00:00:00+00:00")),
    "waivers": lambda folder, vendor: forged(folder, vendor.key, said=lambda found: found.update(waivers=[GONE])),
    "list": lambda folder, vendor: forged(folder, vendor.key, entries=silent),
    "verdict": lambda folder, vendor: forged(folder, vendor.key, **said(counts={"passed": 1_000_000})),
    "page": lambda folder, vendor: another_page(folder, folder),
}
"""Of each check a forgery that no other finds."""


@pytest.mark.parametrize("name", checks.CHECKS)
def test_each_check_finds_something_that_no_other_finds(
    vendor: Vendor, copied: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    ALONE[name](copied, vendor)
    against = vendor.against(product=PRODUCT if name == "product" else None)
    with pytest.raises(CertificateError):
        verified(copied, against)
    monkeypatch.setitem(checks.CHECKS, name, lambda bundle, held: "")
    verified(copied, against)


def cut_otherwise(folder: Path, vendor: Vendor) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "PER_SLICE", 100)
        forged(folder, vendor.key)


FINER: dict[tuple[ModuleType, str], tuple[Callable[..., Any], Callable[[Path, Vendor], object]]] = {
    (bundle, "root"): (lambda found: "4" * 64, lambda at, by: forged(at, by.key, **said(root="4" * 64))),
    (entries, "slice_content"): (
        lambda each, at: (at / each.file).read_bytes(),
        lambda at, by: forged(at, by.key, said=lambda found: found["slices"][0].update(sha256="4" * 64)),
    ),
    (recomputed, "_silent"): (lambda *_: "", lambda at, by: forged(at, by.key, entries=silent)),
    (recomputed, "_inconsistent"): (
        lambda *_, within: "",
        lambda at, by: forged(at, by.key, entries=entry(4, observation=None)),
    ),
    (recomputed, "_said"): (
        lambda *_, within, legal: "",
        lambda at, by: forged(at, by.key, entries=plain(outcome="unsupported", clauses={})),
    ),
    (bundle, "_cut"): (lambda *_: True, cut_otherwise),
    (checks, "check_waivers"): (
        lambda _: None,
        lambda at, by: forged(at, by.key, said=lambda found: found.update(waivers=[WAIVER, WAIVER])),
    ),
    (checks, "check_summaries"): (lambda _: None, lambda at, by: (at / SUMMARIES).write_text("level gold")),
    (checks, "check_cases"): (lambda _: None, lambda at, by: with_a_case(at, at)),
    (checks, "pages"): (lambda _: {}, lambda at, by: another_badge(at, at)),
    (checks, "suite_digest"): (lambda: "0" * 64, lambda at, by: forged(at, by.key, said=another_suite)),
}
"""Of each part of a check what stands in its place when it is left out, and a forgery that no other part finds."""


@pytest.mark.parametrize("part", FINER, ids=lambda part: part[1])
def test_each_part_of_a_check_finds_something_that_no_other_finds(
    vendor: Vendor, copied: Path, monkeypatch: pytest.MonkeyPatch, part: tuple[ModuleType, str]
) -> None:
    instead, forge = FINER[part]
    forge(copied, vendor)
    with pytest.raises(CertificateError):
        verified(copied, vendor.against())
    monkeypatch.setattr(*part, instead)
    verified(copied, vendor.against())


def test_nothing_is_said_of_a_bundle_without_keys(vendor: Vendor) -> None:
    with pytest.raises(CertificateError, match="not checked") as error:
        verified(vendor.bundle, checks.VerificationTerms())
    assert error.value.status == 3


def test_a_waived_clause_is_a_verdict_of_its_own_until_it_expires(
    vendor: Vendor, failing: Path, tmp_path: Path
) -> None:
    broken = read_bundle(failing).statement.predicate.broken
    day = date.fromisoformat(WAIVER["expiry"])
    waivers = tuple(Waiver(clause=each, owner="Ann", reason="until 2.0", expiry=day) for each in broken)
    product = ProductFile(product=PRODUCT.product, waiver=waivers)
    folder = certified(Wrong(), tmp_path / "bundle", vendor.key, product)
    found = verified(folder, vendor.against(product=product))
    assert found.statement.predicate.verdict == "conformant but for waivers"
    front, counted = (folder / PAGE).read_text(), f"onformant but for {len(waivers)} waiver"
    assert ("until 2.0" in front, counted in front, counted in (folder / BADGE).read_text()) == (True, True, True)
    with pytest.raises(CertificateError, match="expired"):
        verified(folder, vendor.against(now=datetime.now(UTC) + timedelta(days=12)))
