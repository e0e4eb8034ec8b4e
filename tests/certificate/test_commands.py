"""certify, sign, verify and keygen as commands: what a vendor, a certifier and a reader type."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.certificate.conftest import Vendor
from tests.cli.conftest import Conformance, conformance  # noqa: F401 - a fixture

PRODUCT = '[product]\nname = "Acme"\nversion = "1"\nvendor = "Acme Inc"\ncontact = "ann@acme.example"\n'
EXAMPLE = Path(__file__).parents[2] / "examples" / "python" / "core_backend.py"


def test_a_vendor_certifies_a_certifier_signs_and_a_reader_verifies(conformance: Conformance) -> None:  # noqa: F811
    shutil.copy(EXAMPLE, "core_backend.py")
    Path("PRODUCT.toml").write_text(PRODUCT)
    for name in ("vendor", "lab"):
        assert conformance("keygen", name).status == 0
    Path("keys").write_text(Path("vendor.pub").read_text() + "# a certifier\n" + Path("lab.pub").read_text())
    words = ("-b", "core_backend:Plain", "--product", "PRODUCT.toml")
    ended = conformance("certify", *words, "--key", "vendor.key", "-o", "bundle")
    assert (ended.status, "conformant" in ended.out) == (0, True), ended
    assert conformance("sign", "bundle", "--key", "lab.key").status == 0
    ended = conformance("verify", "bundle", "--keys", "keys", "--product", "PRODUCT.toml")
    assert (ended.status, "signed by vendor, lab" in ended.out) == (0, True), ended
    assert "level: signed" in ended.out
    again = ("--rerun", "10%", "-b", "core_backend:Plain", "--nonce", "7", "--key", "lab.key")
    ended = conformance("verify", "bundle", "--keys", "vendor.pub", *again)
    assert (ended.status, "0 came out otherwise (digests" in ended.out) == (0, True), ended
    said = json.loads(next(Path("bundle/verified").iterdir()).read_text())
    assert said["payloadType"] == "application/vnd.in-toto+json"
    again = conformance("certify", *words, "-o", "bundle")
    assert (again.status, "is not empty and was left as it is" in again.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (PRODUCT.replace('vendor = "Acme Inc"\n', ""), "vendor"),
        (PRODUCT.replace("[product]", "[[product]]") + PRODUCT.replace("[product]", "[[product]]"), "several products"),
        (PRODUCT + PRODUCT, "no TOML"),
        (PRODUCT + "colour = 1\n", "colour"),
        (PRODUCT.replace('"1"', '"\\u001b[2J"'), "version"),
        (PRODUCT + '[[waiver]]\nclause = "broadcast.C1"\nowner = "Ann"\n', "reason"),
        (PRODUCT + '[[waiver]]\nclause = "x"\nowner = "A"\nreason = "b"\nexpiry = 2031-01-01\n', "clause"),
        ("\0", "no TOML"),
    ],
)
def test_a_product_file_that_is_not_in_order_is_one_line(conformance: Conformance, text: str, told: str) -> None:  # noqa: F811
    Path("PRODUCT.toml").write_text(text)
    ended = conformance("certify", "-b", "reference", "--product", "PRODUCT.toml", "-o", "bundle")
    assert (ended.status, ended.err.count("\n"), told in ended.err, Path("bundle").exists()) == (2, 1, True, False)


def test_what_is_no_bundle_key_or_list_is_one_line(conformance: Conformance, vendor: Vendor) -> None:  # noqa: F811
    Path("empty").write_text("")
    Path("twice").write_text(vendor.keys.read_text() * 2)
    for words, status, told in (
        (("verify", "nowhere", "--keys", vendor.keys), 3, "no bundle"),
        (("verify", vendor.bundle, "--keys", "empty"), 2, "lists no key"),
        (("verify", vendor.bundle, "--keys", "twice"), 2, "listed before"),
        (("verify", vendor.bundle), 3, "--keys FILE"),
        (("verify", vendor.bundle, "--keys", vendor.keys, "--rerun", "0"), 2, "5%"),
        (("verify", vendor.bundle, "--keys", vendor.keys, "--rerun", "5%"), 2, "go together"),
        (("sign", vendor.bundle, "--key", vendor.keys), 2, "no Ed25519 key"),
        (("keygen", "a/b"), 2, "no name of a key"),
        (("certify", "-b", "reference", "--product", "x", "--profile", "gold", "-o", "b"), 2, "core, full"),
    ):
        ended = conformance(*words)
        assert (ended.status, ended.err.count("\n"), told in ended.err) == (status, 1, True), (words, ended)


def test_claims_below_the_floor_are_refused_before_a_case_is_asked(conformance: Conformance) -> None:  # noqa: F811
    Path("few.py").write_text(EXAMPLE.read_text().replace('"float32", "float64", "int32", "int64", "bool"', '"int32"'))
    Path("PRODUCT.toml").write_text(PRODUCT)
    ended = conformance("certify", "-b", "few:Plain", "--product", "PRODUCT.toml", "-o", "bundle")
    assert (ended.status, "its floor is 90%" in ended.err, Path("bundle").exists()) == (2, True, False)
