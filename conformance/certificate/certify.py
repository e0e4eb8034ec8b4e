"""A certificate made: every case of the list asked twice, and the bundle written, its statement last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import msgspec

import conformance
from conformance.backends.discovery import BackendSpec
from conformance.certificate.asking import AskedBackend
from conformance.certificate.bundle import ENVELOPE, write_envelope
from conformance.certificate.case_list import ListPlace, case_at, places, whole_list
from conformance.certificate.conclusion import Conclusion, concluded, guises
from conformance.certificate.entries import Entry, Records, entry, write_new, write_slices
from conformance.certificate.envelope import signed, wrapped
from conformance.certificate.error import CertificateError
from conformance.certificate.mapped import mapped_files, product_files
from conformance.certificate.page import pages
from conformance.certificate.product import ProductFile
from conformance.certificate.profiles import Coverage, Profile, coverage, owed
from conformance.certificate.recomputed import LACKING
from conformance.certificate.seed import seed_of, suite_digest
from conformance.certificate.statement import (
    CERTIFICATE,
    FORMAT,
    STATEMENT,
    Floor,
    Predicate,
    Slice,
    Statement,
    Subject,
    Suite,
)
from conformance.runner.dialect import Trial
from conformance.runner.dialects import further_clauses, save_case
from conformance.runner.log.environment import environment
from conformance.runner.outcomes import FAILING
from conformance.runner.records.record import case_file
from conformance.runner.worker.interface import Judgeable
from conformance.specs import every_clause

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SANDBOXED: Final = (
    "Workers were in a sandbox: with processes, network and temporary files of their own, and other files to read."
)
APART: Final = (
    "Workers were processes of their own without a sandbox: nothing kept them from reading the suite's files."
)


@dataclass(frozen=True)
class WrittenBundle:
    """A bundle that was written; ``cases`` and ``texts`` have, of each broken clause, a case file and the sentence."""

    statement: Statement
    conclusion: Conclusion
    coverage: Coverage
    cases: dict[str, str]
    texts: dict[str, str]


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
) -> WrittenBundle:
    """Ask ``worker`` every case of the list, twice, and write the bundle to ``folder``, which is empty.

    Raise ``CertificateError`` where the claims leave out more than the floor of the profile allows, or a waiver
    has expired; ``StartError`` where the backend does not start.
    """
    ready, began, tick = worker.ready, datetime.now(UTC), monotonic()
    expired = next((waiver for waiver in file.waiver if waiver.expiry < _today()), None)
    if expired is not None:
        raise CertificateError(
            f"the waiver of {expired.clause} expired on {expired.expiry}; mend the product, or date it anew"
        )
    covered = coverage(profile, ready.claims)
    if covered.share < profile.floor:
        raise CertificateError(told_floor(profile, covered))
    _warm(spec.name, worker, profile)
    files = product_files(spec, mapped_files(worker).items())
    declared = (ready.claims, ready.guarantees, ready.follows, ready.number_model)
    seed = seed_of(file.product, files, declared, profile.name)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        failing, slices, top = _asked(AskedBackend(spec.name, worker, folder), profile, seed, folder, told)
        ops = owed(profile, ready.claims)
        found = concluded(Records(slices, folder), file.waiver, _today(), ready.follows, ops)
    except BaseException:
        for path in folder.glob("records-*.jsonl"):
            path.unlink()
        raise
    started, finished = times(began, monotonic() - tick, datetime.now(UTC))
    later = sorted(set(product_files(spec, mapped_files(worker).items())) - set(files))
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
        started=started,
        finished=finished,
        cases=sum(each.count for each in slices),
        root=top,
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
    _beside(folder, statement, [(case_at(each.place, ready.claims), each.name) for each in failing])
    envelope = wrapped(msgspec.json.encode(statement, order="deterministic"))
    write_envelope(envelope if key is None else signed(envelope, key), folder / ENVELOPE)
    known = {**every_clause(), **further_clauses()}
    return WrittenBundle(
        statement,
        found,
        covered,
        # The last to be taken is the first of the list.
        {each.blame: case_file(each.name) for each in reversed(failing) if each.blame},
        {clause: known[clause].text for clause in found.broken},
    )


def told_floor(profile: Profile, covered: Coverage) -> str:
    """Return, in one line, that claims leave out too much."""
    shown = ", ".join(covered.missing[:4])
    return (
        f"the claims cover {covered.share:.1%} of what the profile {profile.name} demands, and its floor is "
        f"{profile.floor:.0%}: outside are {len(covered.missing)} of {covered.demanded}, such as {shown}"
    )


@dataclass(frozen=True)
class _Failing:
    """An entry of the list that failed, its name, and the clause to blame."""

    place: ListPlace
    name: str
    blame: str | None


def _asked(
    asking: AskedBackend, profile: Profile, seed: int, folder: Path, told: Callable[[int, int], None]
) -> tuple[list[_Failing], tuple[Slice, ...], str]:
    """Ask every case of the list and write what it came to; return what failed, the slices and the Merkle root."""
    order = places(profile, asking.claims, seed)
    rows: list[tuple[int, str, bool]] = []
    failing: list[_Failing] = []

    def trials() -> Iterator[Trial]:
        for listed in whole_list(order, asking.claims):
            if (one := listed.one) is not None:
                owed = one.facts.legal and one.outside(asking.claims) is None
                rows.append((listed.place.index, one.name, owed))
                yield one

    def entries() -> Iterator[Entry]:
        pairs = asking.pairs(trials(), seed, lambda done: told(done, len(order)))
        for at, (plain, hidden) in enumerate(pairs):
            index, name, owed = rows[at]
            made = entry(order[index], name, plain, hidden)
            if owed and "unsupported" in {said.outcome for said in guises(made)}:
                raise CertificateError(f"case {made.index}, {made.name:.200}: {LACKING}")
            if plain.outcome in FAILING:
                failing.append(_Failing(order[index], name, plain.blame))
            yield made

    slices, top = write_slices(entries(), folder)
    return failing, slices, top


def _warm(name: str, worker: Judgeable, profile: Profile) -> None:
    """Ask the plainest draw of each claimed operation, which no seed changes: what is loaded late is mapped then."""
    plainest = places(replace(profile, examples=1, deck=False), worker.ready.claims, 0)
    trials = (one.one for one in whole_list(plainest, worker.ready.claims) if one.one is not None)
    for _ in AskedBackend(name, worker).pairs(trials, 0, lambda done: None):
        pass


def _beside(folder: Path, statement: Statement, failing: list[tuple[Any, str]]) -> None:
    """Write what people read: the page, and the failing cases as files."""
    for name, content in pages(statement).items():
        write_new(folder / name, content)
    for case, name in failing:
        path = folder / case_file(name)
        path.parent.mkdir(exist_ok=True)
        save_case(case, path)


def _subject(name: str, digest: str) -> Subject:
    return Subject(name=name, digest={"sha256": digest})


def times(began: datetime, seconds: float, ended: datetime) -> tuple[str, str]:
    """Return when what took so many seconds began and ended, as a statement has it.

    It began before it ended even where the clock was set back meanwhile: ``verify`` refuses another order.
    """
    both = min(began, ended - timedelta(seconds=seconds)), ended
    return both[0].isoformat(timespec="seconds"), both[1].isoformat(timespec="seconds")


def _today() -> date:
    return datetime.now(UTC).date()
