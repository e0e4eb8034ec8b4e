"""Folders, statements, records and summaries of a second hour of attack, each signed by the vendor where that helps."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.certificate import checks
from conformance.certificate.bundle import SUMMARIES, read_bundle
from conformance.certificate.certify import times
from conformance.certificate.checks import VerificationTerms
from conformance.certificate.conclusion import concluded, recorded_under
from conformance.certificate.error import CertificateError
from conformance.certificate.keys import make_key, read_key, read_keys
from conformance.certificate.rerun import Rerun
from conformance.certificate.summary import keep_summary, reproduced_by, summary
from tests.certificate.conftest import Vendor, certified, forged, verified
from tests.certificate.forgeries import WAIVER, asked_again, plain, said
from tests.certificate.test_rerun_exploits import Careful


def stray(name: str) -> Callable[[Path], object]:
    return lambda at: ((at / SUMMARIES).mkdir(), (at / SUMMARIES / name).write_text("level gold"))


def instead(name: str) -> Callable[[Path], object]:
    return lambda at: ((at / name).unlink(missing_ok=True), (at / name).mkdir())


FOLDERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a page among the summaries": (stray("index.html"), "is no verification summary"),
    "a summary of another name": (stray("gold.dsse.json"), "is no verification summary"),
    "summaries that are a file": (lambda at: (at / SUMMARIES).write_text("gold"), "no folder of its own"),
    "summaries that are a link": (lambda at: (at / SUMMARIES).symlink_to(at), "no folder of its own"),
    "a page that is a folder": (instead("README.md"), "is not the one that"),
    "a name in other normal form": (lambda at: (at / "RE\u0301ADME.md").touch(), "no file of a bundle"),
    "a name that is no text": (lambda at: Path(os.fsdecode(os.fsencode(at) + b"/\xff")).touch(), "no file of a bundle"),
    "a hidden file": (lambda at: (at / ".gitattributes").touch(), "no file of a bundle"),
}


@pytest.mark.parametrize("how", FOLDERS)
def test_what_lies_in_a_folder_beside_a_bundle_is_found(vendor: Vendor, copied: Path, how: str) -> None:
    change, told = FOLDERS[how]
    change(copied)
    with pytest.raises(CertificateError, match=told):
        verified(copied, vendor.against())


def test_a_slice_under_two_names_is_read_as_any_other(vendor: Vendor, copied: Path, tmp_path: Path) -> None:
    os.link(copied / "records-0000.jsonl", tmp_path / "elsewhere")
    verified(copied, vendor.against())


def another_digest(found: dict[str, Any]) -> None:
    found["subject"][0]["digest"]["sha3_256"] = "1" * 64


STATEMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "a digest that nobody computes": ({"whole": another_digest}, "another digest than its SHA-256"),
    "a later file without one": (said(later=[{"name": "gold", "digest": {}}]), "another digest than its SHA-256"),
    "a guarantee that is none": (said(guarantees=["gold"]), "gold"),
    "a source that is none": (said(follows=["gold"]), "unknown source"),
    "a number model of nothing": (said(number_model={"gold": {}}), "gold"),
    "claims of no operation": ({"said": lambda found: found["claims"].update(gold={})}, "unknown operation"),
    "a time by its week": (said(started="2020-W01-1T00:00:00+00:00"), "no times of UTC"),
    "a time of another zone": (said(started="2020-01-01T00:00:00+23:59"), "no times of UTC"),
    "a time before all others": (said(started="0001-01-01T00:00:00+23:00"), "no times of UTC"),
    "a waiver twice": (said(waivers=[WAIVER, WAIVER]), "waived twice"),
    "a waiver of no clause": (said(waivers=[WAIVER | {"clause": "gold.C1"}]), "is no clause"),
    "a profile with a space": (said(profile="core "), "unknown profile"),
    "no slices": (said(slices=[]), "slices of the statement"),
    "records without end": (said(cases=10**18), "slices of the statement"),
    "counts without end": (said(counts={"passed": 10**400}), "not in order|its counts"),
    "a format that is true": (said(format=True), "not in order"),
    "the predicate of a summary": (
        {"whole": lambda found: found.update(predicateType="https://slsa.dev/verification_summary/v1")},
        "the predicate is",
    ),
    "a clause that is none": ({"entries": plain(clauses={"gold.C1": "held"})}, "is no clause"),
    "a clause of others that held": ({"entries": plain(clauses={"graph.C11": "held"})}, "no clause of its operation"),
    "blame on what held": (
        {"entries": plain(outcome="failed", blame="broadcast.C1", clauses={"collective.C2": "broken"})},
        "not among what it breaks",
    ),
    "blame on advice beside a must": (
        {
            "entries": plain(
                outcome="failed",
                blame="collective.C14",
                clauses={"collective.C14": "broken", "collective.C2": "broken"},
            )
        },
        "which is no must",
    ),
}


@pytest.mark.parametrize("how", STATEMENTS)
def test_a_statement_or_record_that_its_vendor_signed_is_found(vendor: Vendor, copied: Path, how: str) -> None:
    changes, told = STATEMENTS[how]
    forged(copied, vendor.key, **changes)
    with pytest.raises(CertificateError, match=told) as error:
        verified(copied, vendor.against())
    assert str(error.value).count("\n") == 0


def test_a_verifier_whose_clock_stands_in_1970_finds_no_order(vendor: Vendor) -> None:
    with pytest.raises(CertificateError, match="no such order"):
        verified(vendor.bundle, vendor.against(now=datetime(1970, 1, 1, tzinfo=UTC)))


def test_what_began_before_the_clock_was_set_back_began_before_it_ended() -> None:
    noon = datetime(2027, 1, 31, 12, tzinfo=UTC)
    told = "2027-01-31T11:50:00+00:00", "2027-01-31T12:00:00+00:00"
    assert times(noon - timedelta(minutes=10), 600, noon) == told
    assert times(noon + timedelta(days=1), 600, noon) == told


def test_a_bundle_without_waivers_does_not_grow_old(vendor: Vendor) -> None:
    verified(vendor.bundle, vendor.against(now=datetime(2100, 1, 1, tzinfo=UTC)))


def test_failures_of_every_kind_that_are_called_otherwise_are_owed(vendor: Vendor, failing: Path) -> None:
    def called(found: list[Any]) -> list[Any]:
        flaky = {"outcome": "flaky", "blame": None, "clauses": {}}
        return [
            msgspec.structs.replace(one, plain=msgspec.structs.replace(one.plain, **flaky))
            if one.plain.outcome in ("failed", "errored")
            else one
            for one in found
        ]

    forged(failing, vendor.key, entries=called)
    assert read_bundle(failing).statement.predicate.verdict == "incomplete"


def test_classes_that_were_left_out_are_found_by_a_rerun(vendor: Vendor, copied: Path) -> None:
    def bare(one: Any) -> Any:
        return one and msgspec.structs.replace(one, classes=())

    forged(
        copied,
        vendor.key,
        entries=lambda found: [
            msgspec.structs.replace(one, plain=bare(one.plain), disguised=bare(one.disguised)) for one in found
        ],
    )
    verified(copied, vendor.against())
    assert any("other classes" in told for told in asked_again(copied, Careful()))


class Planting(Careful):
    """Puts a link and a page into the folder of the bundle while it is asked."""

    def __init__(self, folder: Path, victim: Path) -> None:
        super().__init__()
        self.folder, self.victim = folder, victim

    def broadcast(self, blocks: Any, **more: Any) -> Any:
        if not (self.folder / "records-0000.jsonl").is_symlink():
            (self.folder / "records-0000.jsonl").symlink_to(self.victim)
            (self.folder / "index.html").write_text("level gold")
        return super().broadcast(blocks, **more)


def test_a_backend_that_plants_a_link_where_records_are_written_reaches_nothing(vendor: Vendor, tmp_path: Path) -> None:
    folder, victim = tmp_path / "bundle", tmp_path / "victim"
    folder.mkdir()
    victim.write_text("mine")
    certified(Planting(folder, victim), folder, vendor.key)
    assert (victim.read_text(), (folder / "records-0000.jsonl").is_symlink()) == ("mine", False)
    with pytest.raises(CertificateError, match="no file of a bundle"):
        verified(folder, vendor.against())


CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "other bytes": lambda at, out: at.write_bytes(b"x"),
    "a link": lambda at, out: (at.rename(out), at.symlink_to(out)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("check", ["list", "verdict"])
def test_a_slice_that_changes_while_it_is_verified_is_found(
    vendor: Vendor, copied: Path, tmp_path: Path, change: Callable[[Path, Path], object], check: str
) -> None:
    found = read_bundle(copied)
    change(copied / "records-0000.jsonl", tmp_path / "out")
    with pytest.raises(CertificateError, match=r"digest differs|is missing"):
        checks.CHECKS[check](found, vendor.against())


NARROW: dict[str, dict[str, list[str]]] = {
    "no layout": {"layout": []},
    "empty blocks": {"size": ["empty"]},
    "illegal calls": {"calls": ["illegal"]},
    "no operand": {"operands": ["none"]},
}


@pytest.mark.parametrize("how", NARROW)
def test_claims_by_which_nothing_of_an_operation_is_asked_do_not_reach_the_floor(
    vendor: Vendor, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Careful, "claims", {"all_reduce": {}, "broadcast": NARROW[how]})
    with pytest.raises(CertificateError, match="its floor is 90%"):
        certified(Careful(), tmp_path / "bundle", vendor.key)
    assert list(tmp_path.glob("bundle/*")) == []


def test_a_claimed_operation_of_which_nothing_was_judged_makes_it_incomplete(vendor: Vendor) -> None:
    entries = [one for one in read_bundle(vendor.bundle).records if recorded_under(one.name) != "broadcast"]
    owed = frozenset({"all_reduce", "broadcast"})
    assert concluded(entries, (), VerificationTerms().day).verdict == "conformant"
    assert concluded(entries, (), VerificationTerms().day, (), owed).verdict == "incomplete"


SUMMARY: dict[str, Callable[[dict[str, Any]], object]] = {
    "of no re-run": lambda found: found["predicate"].update(rerun=None),
    "of a re-run of nothing": lambda found: found["predicate"]["rerun"].update(asked=0),
    "of a re-run that differed": lambda found: found["predicate"]["rerun"].update(differing=5),
    "of other files": lambda found: found.update(subject=[{"name": "x", "digest": {"sha256": "0" * 64}}]),
    "of two statements": lambda found: found["predicate"]["inputAttestations"].append({"digest": {"sha256": "0" * 64}}),
    "by another policy": lambda found: found["predicate"].update(policy={}),
    "with levels as text": lambda found: found["predicate"].update(verifiedLevels="MESH_CONFORMANCE_REPRODUCED"),
}


@pytest.mark.parametrize("how", SUMMARY)
def test_a_summary_counts_only_as_this_suite_writes_it(copied: Path, tmp_path: Path, how: str) -> None:
    key, keys = make_key("lab", tmp_path)
    found = read_bundle(copied)
    made = summary(found, True, Rerun(9, (), True, (), ()), "n")
    keep_summary(found, made, read_key(key))
    assert reproduced_by(found, read_keys(keys)) == ("lab",)
    SUMMARY[how](made)
    keep_summary(found, made, read_key(key))
    assert reproduced_by(found, read_keys(keys)) == ()
