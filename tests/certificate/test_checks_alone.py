"""The verifier mutated: each of its checks has a forgery that it alone finds; and what it says of waivers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from conformance.certificate import checks
from conformance.certificate.bundle import read_bundle
from conformance.certificate.error import CertificateError
from conformance.certificate.page import BADGE, PAGE
from conformance.certificate.product import ProductFile, Waiver
from tests.certificate.conftest import PRODUCT, Vendor, certified, forged, verified
from tests.certificate.forgeries import (
    GONE,
    WAIVER,
    Wrong,
    another_page,
    another_suite,
    outside,
    renamed,
    said,
    silent,
    stripped,
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


def test_nothing_is_said_of_a_bundle_without_keys(vendor: Vendor) -> None:
    with pytest.raises(CertificateError, match="not checked") as error:
        verified(vendor.bundle, checks.Against())
    assert error.value.status == 3


def test_a_waived_clause_is_a_verdict_of_its_own_until_it_expires(vendor: Vendor, tmp_path: Path) -> None:
    broken = read_bundle(certified(Wrong(), tmp_path / "before", vendor.key)).statement.predicate.broken
    day = date.fromisoformat(WAIVER["expiry"])
    waivers = tuple(Waiver(clause=each, owner="Ann", reason="until 2.0", expiry=day) for each in broken)
    product = ProductFile(product=PRODUCT.product, waiver=waivers)
    folder = certified(Wrong(), tmp_path / "bundle", vendor.key, product)
    found = verified(folder, vendor.against(product=product))
    assert found.statement.predicate.verdict == "conformant but for waivers"
    front = (folder / PAGE).read_text()
    counted = f"conformant but for {len(waivers)} waiver"
    assert ("until 2.0" in front, counted in front, counted in (folder / BADGE).read_text()) == (True, True, True)
    with pytest.raises(CertificateError, match="expired"):
        verified(folder, vendor.against(now=datetime.now(UTC) + timedelta(days=12)))
