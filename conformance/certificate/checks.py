"""The checks of a bundle, one after the other: each raises what is wrong in one line, and none is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Final

import conformance
from conformance.backends.discovery import DeclarationError
from conformance.cases.declarations.guarantees import check_guarantees
from conformance.cases.declarations.number_model import number_model
from conformance.cases.declarations.terms import check_follows
from conformance.certificate.bundle import Bundle
from conformance.certificate.conclusion import concluded
from conformance.certificate.envelope import signers
from conformance.certificate.error import CertificateError, holds
from conformance.certificate.failing_cases import check_cases
from conformance.certificate.keys import Keys
from conformance.certificate.page import pages
from conformance.certificate.product import ProductFile, check_waivers
from conformance.certificate.profiles import coverage, owed, profile_of
from conformance.certificate.recomputed import check_list
from conformance.certificate.seed import seed_of, suite_digest
from conformance.certificate.statement import STATEMENT
from conformance.certificate.summary import check_summaries
from conformance.runner.claims import check_claims

SKEW: Final = timedelta(hours=1)
"""How far the clock of who certified may be ahead of the verifier's."""

FEW: Final = 20
"""Order-sensitive reductions below which nothing is said of whose they look like."""


@dataclass(frozen=True)
class VerificationTerms:
    """What a bundle is held against: the listed keys, the product that its vendor names, and the day."""

    keys: Keys | None = None
    product: ProductFile | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def day(self) -> date:
        """Return the day of the verification."""
        return self.now.date()


@dataclass(frozen=True)
class PassedCheck:
    """A check that a bundle passed, and what it showed."""

    name: str
    told: str


def checked(bundle: Bundle, against: VerificationTerms) -> Iterator[PassedCheck]:
    """Yield each check that the bundle passes, and raise ``CertificateError`` at the first that it does not."""
    for name, one in CHECKS.items():
        yield PassedCheck(name, one(bundle, against))


def _form(bundle: Bundle, against: VerificationTerms) -> str:
    del against
    if bundle.statement.kind != STATEMENT:
        raise CertificateError(f"the statement is {bundle.statement.kind!r:.80}; {STATEMENT} is right")
    said = bundle.statement.predicate
    profile_of(said.profile)
    try:
        check_claims(said.claims)
        check_guarantees(said.guarantees)
        check_follows(said.follows)
        number_model(said.number_model)
    except (DeclarationError, ValueError) as error:
        raise CertificateError(str(error)) from None
    if any(each.digest.keys() != {"sha256"} for each in (*bundle.statement.subject, *said.later)):
        raise CertificateError("a file of the product has another digest than its SHA-256, or none")
    return f"{said.cases} records in {len(said.slices)} slices, under the root {said.root[:16]}"


def _signatures(bundle: Bundle, against: VerificationTerms) -> str:
    if against.keys is None:
        raise CertificateError("the signatures were not checked: give the keys that you trust with --keys FILE", 3)
    names = signers(bundle.envelope, against.keys)
    if not names:
        there = len(bundle.envelope.signatures)
        raise CertificateError(
            f"none of its {there} signatures is of a listed key"
            if there
            else "nobody signed it; `conformance sign` does"
        )
    return f"signed by {', '.join(names)}"


def _suite(bundle: Bundle, against: VerificationTerms) -> str:
    del against
    said = bundle.statement.predicate.suite
    if said.digest != suite_digest():
        raise CertificateError(
            f"it was made by Mesh Conformance {said.version} with the digest {said.digest[:16]}, and this is another "
            f"({suite_digest()[:16]}): verify it with that one",
            3,
        )
    if said.version != conformance.__version__:
        raise CertificateError(
            f"it says that Mesh Conformance {said.version!r:.80} made it; the files are of {conformance.__version__}"
        )
    return f"Mesh Conformance {said.version}, the same files as here"


def _product(bundle: Bundle, against: VerificationTerms) -> str:
    said = bundle.statement.predicate
    if against.product is not None:
        if against.product.product != said.product:
            raise CertificateError(
                f"it is about {said.product.name} {said.product.version}, and the product file about another"
            )
        if against.product.waiver != said.waivers:
            raise CertificateError("its waivers are not those of the product file")
    if not bundle.statement.subject:
        raise CertificateError("it names no file of the product, so that it is about nothing", 3)
    names = [(each.name, each.digest["sha256"]) for each in bundle.statement.subject]
    if len(set(names)) < len(names):
        raise CertificateError("a file of the product is listed twice")
    return f"{len(names)} files of {said.product.name} {said.product.version}"


def _seed(bundle: Bundle, against: VerificationTerms) -> str:
    del against
    said = bundle.statement.predicate
    files = [(each.name, each.digest["sha256"]) for each in bundle.statement.subject]
    declared = (said.claims, said.guarantees, said.follows, said.number_model)
    right = seed_of(said.product, files, declared, said.profile)
    if said.seed != right:
        raise CertificateError(
            f"the seed is {said.seed}; of this product, suite, declarations and profile it is {right}"
        )
    return f"{said.seed}, as product, suite, declarations and profile give it"


def _floor(bundle: Bundle, against: VerificationTerms) -> str:
    del against
    said = bundle.statement.predicate
    profile = profile_of(said.profile)
    found = coverage(profile, said.claims)
    if (said.floor.demanded, said.floor.missing) != (found.demanded, found.missing):
        raise CertificateError("what it says lies outside the claims is not what the profile and the claims give")
    if found.share < profile.floor:
        raise CertificateError(
            f"its claims cover {found.share:.1%} of the profile {profile.name}; the floor is {profile.floor:.0%}"
        )
    return f"{found.share:.0%} of the profile {profile.name} lies within the claims"


def _times(bundle: Bundle, against: VerificationTerms) -> str:
    said = bundle.statement.predicate
    try:
        began, ended = (datetime.fromisoformat(text) for text in (said.started, said.finished))
        ordered = began <= ended <= against.now + SKEW
        spelled = [time.astimezone(UTC).isoformat(timespec="seconds") for time in (began, ended)]
    except (ValueError, TypeError, OverflowError):
        spelled = []
    if spelled != [said.started, said.finished]:
        raise CertificateError(
            f"{said.started!r:.40} to {said.finished!r:.40} are no times of UTC as 2027-01-31T00:00:00+00:00 is one"
        )
    if not ordered:
        raise CertificateError(
            f"it began {said.started} and ended {said.finished}, and it is {against.now:%Y-%m-%dT%H:%M}: no such order"
        )
    return f"{said.started} to {said.finished}"


def _waivers(bundle: Bundle, against: VerificationTerms) -> str:
    waivers = bundle.statement.predicate.waivers
    check_waivers(waivers)
    for waiver in waivers:
        if waiver.expiry < against.day:
            raise CertificateError(
                f"the waiver of {waiver.clause} expired on {waiver.expiry}; the product is to be certified anew"
            )
    return f"{len(waivers)} waivers, none expired" if waivers else "nothing is waived"


def _list(bundle: Bundle, against: VerificationTerms) -> str:
    del against
    said = bundle.statement.predicate
    check_list(bundle.records, profile_of(said.profile), said.claims, said.seed)
    return f"the {said.cases} cases that the seed, the claims and the profile give, in order"


def _conclusion(bundle: Bundle, against: VerificationTerms) -> str:
    said = bundle.statement.predicate
    ops = owed(profile_of(said.profile), said.claims)
    found = concluded(bundle.records, said.waivers, against.day, said.follows, ops)
    if found.undocumented is not None:
        index, clause = found.undocumented
        raise CertificateError(
            f"record {index} diverges from {clause:.80}, of which no source that the product follows says so"
        )
    if found.recognised:
        raise CertificateError(
            f"{len(found.recognised)} cases passed as drawn and not in another guise, case {found.recognised[0]} "
            "first, and far fewer the other way round: cases are recognised by their looks"
        )
    pairs = (
        ("counts", found.counts),
        ("broken", found.broken),
        ("fingerprint", found.fingerprint),
        ("verdict", found.verdict),
    )
    for name, right in pairs:
        if getattr(said, name) != right:
            raise CertificateError(f"its {name} is {getattr(said, name)!r:.120}; the records come to {right!r:.120}")
    note = ""
    if found.sensitive >= FEW and found.in_rank_order == found.sensitive:
        note = (
            f"; all {found.sensitive} order-sensitive reductions have the bits of a fold in rank order, "
            "as the suite's own reference gives them"
        )
    return f"{found.verdict}, recomputed from the records{note}"


def _page(bundle: Bundle, against: VerificationTerms) -> str:
    del against
    check_cases(bundle)
    check_summaries(bundle)
    made = pages(bundle.statement)
    for name, content in made.items():
        if not holds(bundle.folder / name, content):
            raise CertificateError(f"{name} is not the one that the statement makes")
    return f"{' and '.join(made)} are those of the statement"


CHECKS: Final[dict[str, Callable[[Bundle, VerificationTerms], str]]] = {
    "form": _form,
    "signatures": _signatures,
    "suite": _suite,
    "product": _product,
    "seed": _seed,
    "floor": _floor,
    "times": _times,
    "waivers": _waivers,
    "list": _list,
    "verdict": _conclusion,
    "page": _page,
}
"""In their order: the cheap ones first, and none that computes from what an earlier one has to vouch for."""
