"""The statement of a certificate: an in-toto Statement that says what was certified, by what, and what came of it."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from conformance.certificate.error import CertificateError
from conformance.certificate.product import Product, Waiver

STATEMENT: Final = "https://in-toto.io/Statement/v1"
CERTIFICATE: Final = "urn:mesh-conformance:certificate:v1"
SUMMARY: Final = "https://slsa.dev/verification_summary/v1"
FORMAT: Final = 1

Sha = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
LONGEST_WORD: Final = 300
"""Characters of a word, at most."""

Word = Annotated[str, Meta(max_length=LONGEST_WORD, pattern=r"^[^\x00-\x1f\x7f-\x9f\u200e-\u202e\u2066-\u2069]*\Z")]
Verdict = Literal["conformant", "conformant but for waivers", "not conformant", "incomplete"]


class Subject(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file that a statement is about."""

    name: Word
    digest: dict[str, Sha]


class Suite(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who judged: the version, and the SHA-256 of all that is installed of it."""

    version: Word
    digest: Sha


class Slice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of records: how many lines, and the SHA-256 of its bytes."""

    file: Annotated[str, Meta(pattern=r"^records-[0-9]{4}\.jsonl\Z")]
    count: Annotated[int, Meta(ge=0)]
    sha256: Sha


class Floor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of so much that the profile ``demanded``, what lies outside the claims."""

    demanded: int
    missing: tuple[Word, ...]


class Predicate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a certificate says.

    ``isolation`` tells how the workers were kept apart. ``root`` is the Merkle root (RFC 6962) over the slices of the
    records. ``counts`` are the cases by outcome; ``broken`` the *must* clauses to blame, with how many cases. ``later``
    are files that the workers had mapped at the end and not at the start. ``fingerprint`` is the digest of the
    numerical one.
    """

    format: int
    product: Product
    backend: Word
    profile: Word
    seed: Annotated[int, Meta(ge=0, lt=1 << 60)]
    suite: Suite
    claims: dict[str, dict[str, list[str]]]
    guarantees: tuple[Word, ...]
    follows: tuple[Word, ...]
    number_model: dict[str, Any]
    description: dict[str, str]
    environment: dict[str, str]
    isolation: Word
    started: Word
    finished: Word
    cases: Annotated[int, Meta(ge=0)]
    root: Sha
    slices: tuple[Slice, ...]
    floor: Floor
    counts: dict[str, int]
    broken: dict[str, int]
    waivers: tuple[Waiver, ...]
    fingerprint: Sha
    verdict: Verdict
    later: tuple[Subject, ...] = ()


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"kind": "_type"}):
    """An in-toto Statement about the files of a product."""

    kind: str
    subject: tuple[Subject, ...]
    predicateType: str  # noqa: N815 - the name that in-toto gives it
    predicate: Predicate


class _Head(msgspec.Struct):
    predicateType: str = ""  # noqa: N815 - the name that in-toto gives it
    predicate: dict[str, Any] = {}


def read_statement(content: bytes) -> Statement:
    """Return a statement; raise ``CertificateError`` for another predicate, a newer format, or what is none."""
    try:
        head = msgspec.json.decode(content, type=_Head)
        if head.predicateType != CERTIFICATE:
            raise CertificateError(f"the predicate is {head.predicateType!r:.120}; {CERTIFICATE} is right", 3)
        if head.predicate.get("format") != FORMAT:
            told = head.predicate.get("format")
            raise CertificateError(f"the bundle has format {told!r:.40}; this suite reads format {FORMAT}", 3)
        found = msgspec.json.decode(content, type=Statement)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CertificateError(f"the statement is not in order: {error}") from None
    # Of a field that is there twice one reader takes the first and another the last.
    if msgspec.json.encode(found, order="deterministic") != content:
        raise CertificateError("the statement is not spelled as the suite spells it: a field is there twice, or more")
    return found
