"""A certificate made: every case of the list asked twice, and the bundle written, its statement last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

import conformance
from conformance.backends.discovery import BackendSpec
from conformance.certificate.asking import Asking
from conformance.certificate.bundle import ENVELOPE, write_envelope
from conformance.certificate.case_list import Listed, whole_list
from conformance.certificate.conclusion import Conclusion, concluded, guises
from conformance.certificate.entries import entry, write_slices
from conformance.certificate.envelope import signed, wrapped
from conformance.certificate.error import CertificateError
from conformance.certificate.mapped import mapped_files, product_files
from conformance.certificate.merkle import root
from conformance.certificate.page import pages
from conformance.certificate.product import ProductFile
from conformance.certificate.profiles import Coverage, Profile, coverage
from conformance.certificate.recomputed import LACKING
from conformance.certificate.seed import seed_of, suite_digest
from conformance.certificate.statement import (
    CERTIFICATE,
    FORMAT,
    STATEMENT,
    Floor,
    Predicate,
    Statement,
    Subject,
    Suite,
)
from conformance.runner.dialects import save_case
from conformance.runner.log.environment import environment
from conformance.runner.outcomes import FAILING
from conformance.runner.records.record import case_file
from conformance.runner.worker.interface import Judgeable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SANDBOXED: Final = (
    "Workers were in a sandbox: with processes, network and temporary files of their own, and other files to read."
)
APART: Final = (
    "Workers were processes of their own without a sandbox: nothing kept them from reading the suite's files."
)


@dataclass(frozen=True)
class Made:
    """A bundle that was written."""

    statement: Statement
    conclusion: Conclusion
    coverage: Coverage


def certify(
    spec: BackendSpec,
    worker: Judgeable,
    file: ProductFile,
    profile: Profile,
    folder: Path,
    *,
    key: Ed25519PrivateKey | None = None,
    told: Callable[[int, int], None] = lambda done, of: None,
    isolation: str = APART,
) -> Made:
    """Ask ``worker`` every case of the list, twice, and write the bundle to ``folder``, which is empty.

    Raise ``CertificateError`` where the claims leave out more than the floor of the profile allows, or a waiver
    has expired; ``StartError`` where the backend does not start.
    """
    ready, began = worker.ready, _now()
    expired = next((waiver for waiver in file.waiver if waiver.expiry < _today()), None)
    if expired is not None:
        raise CertificateError(
            f"the waiver of {expired.clause} expired on {expired.expiry}; mend the product, or date it anew"
        )
    covered = coverage(profile, ready.claims)
    if covered.share < profile.floor:
        raise CertificateError(told_floor(profile, covered))
    _warm(spec.name, worker, profile)
    files = product_files(spec, mapped_files().items())
    declared = (ready.claims, ready.guarantees, ready.follows, ready.number_model)
    seed = seed_of(file.product, files, declared, profile.name)
    listed = [one for one in whole_list(profile, ready.claims, seed) if one.one is not None]
    asking = Asking(spec.name, worker)
    trials = [one.one for one in listed if one.one is not None]
    pairs = asking.pairs(trials, seed, lambda done: told(done, len(trials)))
    entries = [
        entry(one, found.name, plain, hidden)
        for (one, found), (plain, hidden) in zip(zip(listed, trials, strict=True), pairs, strict=True)
    ]
    for one, made in zip(trials, entries, strict=True):
        refused = "unsupported" in {said.outcome for said in guises(made)}
        if refused and one.facts.legal and one.outside(ready.claims) is None:
            raise CertificateError(f"case {made.index}, {made.name:.200}: {LACKING}")
    later = sorted(set(product_files(spec, mapped_files().items())) - set(files))
    folder.mkdir(parents=True, exist_ok=True)
    slices, contents = write_slices(entries, folder)
    found = concluded(entries, file.waiver, _today())
    said = Predicate(
        format=FORMAT,
        product=file.product,
        backend=spec.name,
        profile=profile.name,
        seed=seed,
        suite=Suite(version=conformance.__version__, digest=suite_digest()),
        claims=ready.claims,
        guarantees=ready.guarantees,
        follows=ready.follows,
        number_model=ready.number_model,
        description=ready.description,
        environment=environment(),
        isolation=isolation,
        started=began,
        finished=_now(),
        cases=len(entries),
        root=root(contents),
        slices=slices,
        floor=Floor(demanded=covered.demanded, missing=covered.missing),
        counts=found.counts,
        broken=found.broken,
        waivers=file.waiver,
        fingerprint=found.fingerprint,
        verdict=found.verdict,
        later=tuple(_subject(*one) for one in later),
    )
    statement = Statement(
        kind=STATEMENT, subject=tuple(_subject(*one) for one in files), predicateType=CERTIFICATE, predicate=said
    )
    _beside(
        folder, statement, [one for one, made in zip(listed, entries, strict=True) if made.plain.outcome in FAILING]
    )
    envelope = wrapped(msgspec.json.encode(statement, order="deterministic"))
    write_envelope(envelope if key is None else signed(envelope, key), folder / ENVELOPE)
    return Made(statement, found, covered)


def told_floor(profile: Profile, covered: Coverage) -> str:
    """Return, in one line, that claims leave out too much."""
    shown = ", ".join(covered.missing[:4])
    return (
        f"the claims cover {covered.share:.1%} of what the profile {profile.name} demands, and its floor is "
        f"{profile.floor:.0%}: outside are {len(covered.missing)} of {covered.demanded}, such as {shown}"
    )


def _warm(name: str, worker: Judgeable, profile: Profile) -> None:
    """Ask the plainest draw of each claimed operation, which no seed changes: what is loaded late is mapped then."""
    plainest = whole_list(_plainest(profile), worker.ready.claims, 0)
    trials = [one.one for one in plainest if one.one is not None]
    for _ in Asking(name, worker).pairs(trials, 0, lambda done: None):
        pass


def _plainest(profile: Profile) -> Profile:
    return replace(profile, examples=1, deck=False)


def _beside(folder: Path, statement: Statement, failing: list[Listed]) -> None:
    """Write what people read: the page, and the failing cases as files."""
    for name, content in pages(statement).items():
        (folder / name).write_bytes(content)
    for one in failing:
        assert one.one is not None
        path = folder / case_file(one.one.name)
        path.parent.mkdir(exist_ok=True)
        save_case(one.case, path)


def _subject(name: str, digest: str) -> Subject:
    return Subject(name=name, digest={"sha256": digest})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _today() -> date:
    return datetime.now(UTC).date()
