"""What a dishonest vendor puts into a bundle against whoever verifies, signs or reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.certificate import checks
from conformance.certificate.bundle import ENVELOPE, open_envelope, read_bundle, write_envelope
from conformance.certificate.conclusion import concluded
from conformance.certificate.entries import Entry, Guise, guise
from conformance.certificate.envelope import MOST_SIGNATURES, Signature, signed, wrapped
from conformance.certificate.error import CertificateError
from conformance.certificate.keys import make_key, read_key, read_keys
from conformance.certificate.merkle import root
from conformance.certificate.page import PAGE, page
from conformance.certificate.rerun import Rerun
from conformance.certificate.summary import SUMMARIES, keep_summary, reproduced_by, summary
from conformance.qualification.variants.unsettled import NumbersBeforeNaN
from conformance.runner.records.record import CaseRecord
from tests.certificate.conftest import Careful, Vendor, certified, forged, verified
from tests.certificate.forgeries import plain, said

FOUND_AGAIN = Rerun(asked=9, differing=(), digests=True, strangers=(), absent=())


def no_base64(folder: Path, tmp: Path) -> None:
    envelope = open_envelope(folder)
    one = msgspec.structs.replace(envelope.signatures[0], sig="abc")
    write_envelope(msgspec.structs.replace(envelope, signatures=(one,)), folder / ENVELOPE)


def long_page(folder: Path, tmp: Path) -> None:
    with (folder / PAGE).open("r+b") as file:
        file.truncate(1 << 40)  # with a hole in it, so that it takes no room here


def capitals(folder: Path, tmp: Path) -> None:
    (folder / ENVELOPE.upper()).write_bytes((folder / ENVELOPE).read_bytes())


def cases_as_a_link(folder: Path, tmp: Path) -> None:
    (folder / "cases").symlink_to(tmp)


def infinite(folder: Path, tmp: Path) -> None:
    content = open_envelope(folder).content.replace(b'"number_model":{}', b'"number_model":{"float32":1e400}')
    write_envelope(wrapped(content), folder / ENVELOPE)


PLACED: dict[Callable[[Path, Path], None], str] = {
    no_base64: "no base64", long_page: "is not the one that", capitals: "no file of a bundle",
    cases_as_a_link: "no folder of its own", infinite: "not in order",
}  # fmt: skip


@pytest.mark.parametrize("change", PLACED, ids=lambda change: change.__name__)
def test_what_is_put_into_a_bundle_is_one_line(
    vendor: Vendor, copied: Path, tmp_path: Path, change: Callable[[Path, Path], None]
) -> None:
    change(copied, tmp_path)
    with pytest.raises(CertificateError, match=PLACED[change]) as error:
        verified(copied, vendor.against())
    assert str(error.value).count("\n") == 0


def test_a_field_does_not_end_in_a_new_line(vendor: Vendor, copied: Path) -> None:
    forged(copied, vendor.key, **said(backend="reference\n"))
    with pytest.raises(CertificateError, match="not in order"):
        verified(copied, vendor.against())


def test_a_signature_is_not_written_through_a_link_of_the_bundle(vendor: Vendor, copied: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("kept")
    (copied / f"{ENVELOPE}.part").symlink_to(mine)
    write_envelope(signed(open_envelope(copied), read_key(vendor.key)), copied / ENVELOPE)
    assert (mine.read_text(), (copied / ENVELOPE).is_symlink()) == ("kept", False)
    (copied / f"{ENVELOPE}.part").unlink()
    (copied / SUMMARIES).symlink_to(tmp_path)
    found, before = read_bundle(copied), sorted(tmp_path.iterdir())
    with pytest.raises(CertificateError, match="no folder of its own"):
        keep_summary(found, summary(found, True, FOUND_AGAIN, "n"), read_key(vendor.key))
    assert sorted(tmp_path.iterdir()) == before


def test_a_bundle_full_of_signatures_takes_no_more_and_stays_as_it_is(vendor: Vendor, copied: Path) -> None:
    others = tuple(Signature(keyid=f"{number:064x}", sig="AAAA") for number in range(MOST_SIGNATURES))
    with pytest.raises(CertificateError, match="64 signatures"):
        signed(msgspec.structs.replace(open_envelope(copied), signatures=others), read_key(vendor.key))


def test_a_summary_that_is_none_is_one_line_and_another_statement_of_the_key_does_not_count(
    copied: Path, tmp_path: Path
) -> None:
    key, keys = make_key("lab", tmp_path)
    found, listed = read_bundle(copied), read_keys(keys)
    right = summary(found, True, FOUND_AGAIN, "n")
    path = keep_summary(found, right | {"predicateType": "urn:a-draft"}, read_key(key))
    assert reproduced_by(found, listed) == ()
    keep_summary(found, right, read_key(key))
    assert reproduced_by(found, listed) == ("lab",)
    write_envelope(wrapped(b"[" * 100_000), path)
    with pytest.raises(CertificateError, match="no verification summary"):
        reproduced_by(found, listed)


@pytest.mark.parametrize("name", ["{}", "{}.json.safetensors", "harmless.safetensors"])
def test_a_stray_file_among_the_failing_cases_is_found(vendor: Vendor, failing: Path, name: str) -> None:
    verified(failing, vendor.against())
    first = min((failing / "cases").glob("*.json"))
    (failing / "cases" / name.format(first.stem)).write_text("level gold")
    with pytest.raises(CertificateError, match="not as the records say"):
        verified(failing, vendor.against())


@pytest.mark.parametrize("name", ["{}.safetensors", "{}.json"])
def test_a_failing_case_is_spelled_as_the_suite_spells_it(vendor: Vendor, failing: Path, name: str) -> None:
    first = min((failing / "cases").glob("*.json"))
    with (failing / "cases" / name.format(first.stem)).open("a") as file:
        file.write("    ")
    with pytest.raises(CertificateError, match="as the suite writes"):
        checks.CHECKS["page"](read_bundle(failing), vendor.against())


def a_tebibyte(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)  # with a hole in it, so that it takes no room here


@pytest.mark.parametrize("made", [os.mkfifo, a_tebibyte, Path.mkdir], ids=["a pipe", "a tebibyte", "a folder"])
@pytest.mark.parametrize("ending", [".safetensors", ".json"])
def test_a_file_of_a_failing_case_is_not_read_before_its_size_is_known(
    vendor: Vendor, failing: Path, made: Callable[[Path], None], ending: str
) -> None:
    path = min((failing / "cases").glob("*.json")).with_suffix(ending)
    path.unlink(missing_ok=True)
    made(path)
    with pytest.raises(CertificateError, match=r"is no case|as the suite writes"):
        checks.CHECKS["page"](read_bundle(failing), vendor.against())


def test_a_node_of_the_tree_is_no_leaf() -> None:
    one, other = b"a", b"b"
    assert root([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # RFC 6962, 2.1
    assert root([b"\1" + bytes.fromhex(root([one])) + bytes.fromhex(root([other]))]) != root([one, other])
    assert root([one, other, other]) != root([one, other])


def test_what_ends_its_process_once_and_passes_when_it_is_asked_again_is_no_pass() -> None:
    passed = CaseRecord(
        backend="acme", case="broadcast/int32-2/0", op="broadcast", dtype="int32", world=2, outcome="passed",
        clauses={"broadcast.C1": "held"}, seconds=0.0,
    )  # fmt: skip
    dying = msgspec.structs.replace(passed, unrepeated="crashed")
    entries = [
        Entry(index=at, origin="", name=one.case, plain=guise("0" * 64, one)) for at, one in enumerate((passed, dying))
    ]
    assert concluded(entries[:1], (), checks.VerificationTerms().day).verdict == "conformant"
    assert concluded(entries, (), checks.VerificationTerms().day).verdict == "incomplete"


@pytest.mark.parametrize(
    ("alone", "reversed_", "recognised"), [(1, 0, 0), (9, 0, 0), (10, 0, 10), (20, 3, 20), (20, 8, 0), (0, 10, 0)]
)
def test_cases_are_recognised_where_more_fail_in_the_other_guise_alone_than_chance_explains(
    alone: int, reversed_: int, recognised: int
) -> None:
    passed, failed = (Guise(case="0" * 64, outcome=outcome) for outcome in ("passed", "failed"))
    pairs = [(passed, failed)] * alone + [(failed, passed)] * reversed_ + [(failed, failed), (passed, passed)]
    entries = [
        Entry(index=at, origin="", name="broadcast/int32-2/0", plain=plain, disguised=other)
        for at, (plain, other) in enumerate(pairs)
    ]
    assert len(concluded(entries, (), checks.VerificationTerms().day).recognised) == recognised


def test_a_name_that_reads_like_a_verdict_stands_behind_the_verdict(vendor: Vendor) -> None:
    statement = read_bundle(vendor.bundle).statement
    gold = msgspec.structs.replace(statement.predicate.product, name="Acme", version="1: conformant; level: gold")
    said = msgspec.structs.replace(statement.predicate, product=gold, verdict="not conformant")
    text = page(msgspec.structs.replace(statement, predicate=said))
    assert text.startswith("# Not conformant: Acme 1: conformant; level: gold\n")


class Divergent(NumbersBeforeNaN, Careful):
    """Follows a source in what the maximum beside a NaN and of two zeros is, so that its divergences fail nothing."""

    follows: Any = ("mpi",)
    guarantees = Careful.guarantees

    @property
    def claims(self) -> Any:
        return {op: {"calls": ["legal"]} for op in ("all_reduce", "broadcast")}


def test_what_the_claims_narrow_and_whose_divergences_are_followed_stand_on_the_front_page(
    vendor: Vendor, tmp_path: Path
) -> None:
    folder = certified(Divergent(), tmp_path / "bundle", vendor.key)
    text = page(verified(folder, vendor.against()).statement)
    assert "their divergences fail nothing: mpi" in text
    assert "calls only legal: " in text
    assert "guarantees: run\\_to\\_run, ranks\\_agree" in text
    assert any("diverges" in one.plain.clauses.values() for one in read_bundle(folder).records)
    forged(folder, vendor.key, entries=plain(clauses={"collective.C2": "diverges"}))
    with pytest.raises(CertificateError, match="no source that the product follows"):
        verified(folder, vendor.against())
