"""A DSSE envelope: bytes, what they are, and who signed them. What is signed are the bytes as they are."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from conformance.cases.case_error import CaseError
from conformance.cases.document import check_keys
from conformance.certificate.error import CertificateError
from conformance.certificate.keys import Keys, from_base64, key_id, public_bytes, verified

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

TYPE: Final = "application/vnd.in-toto+json"

MOST_SIGNATURES: Final = 64
"""Signatures of an envelope."""


class Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A signature in base64, and the id of the key that made it."""

    keyid: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    sig: Annotated[str, Meta(max_length=100)]


class Envelope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A payload in base64, its type, and signatures over both."""

    payload: str
    payloadType: str  # noqa: N815 - the name that DSSE gives it
    signatures: Annotated[tuple[Signature, ...], Meta(max_length=MOST_SIGNATURES)]

    @property
    def content(self) -> bytes:
        """Return the payload; raise ``CertificateError`` where it is no base64 or of another type."""
        if self.payloadType != TYPE:
            raise CertificateError(f"the payload is {self.payloadType!r:.80}; {TYPE} is right")
        found = from_base64(self.payload)
        if found is None:
            raise CertificateError("the payload of the envelope is no base64 as a writer of it gives")
        return found


def wrapped(content: bytes) -> Envelope:
    """Return an envelope that nobody signed yet."""
    return Envelope(payload=base64.b64encode(content).decode(), payloadType=TYPE, signatures=())


def signed(envelope: Envelope, key: Ed25519PrivateKey) -> Envelope:
    """Return the envelope with the signature of a key, in place of an earlier one of the same key.

    Raise ``CertificateError`` where it would have more signatures than a reader takes.
    """
    public = public_bytes(key)
    made = Signature(keyid=key_id(public), sig=base64.b64encode(key.sign(encoded(envelope))).decode())
    others = tuple(one for one in envelope.signatures if one.keyid != made.keyid)
    if len(others) >= MOST_SIGNATURES:
        raise CertificateError(
            f"it has {MOST_SIGNATURES} signatures already, and no more are read; remove those of strangers"
        )
    return msgspec.structs.replace(envelope, signatures=(*others, made))


def encoded(envelope: Envelope) -> bytes:
    """Return what is signed: the pre-authentication encoding of DSSE."""
    kind, content = envelope.payloadType.encode(), envelope.content
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(content), content)


def signers(envelope: Envelope, keys: Keys) -> tuple[str, ...]:
    """Return the names of the listed keys that signed, each once.

    Raise ``CertificateError`` where a signature that names a listed key is not that of it.
    """
    found: dict[str, None] = {}
    for one in envelope.signatures:
        if one.keyid not in keys:
            continue
        name, public = keys[one.keyid]
        signature = from_base64(one.sig)
        if signature is None:
            raise CertificateError(f"the signature that names the key of {name} is no base64 as a writer of it gives")
        if not verified(public, signature, encoded(envelope)):
            raise CertificateError(
                f"the signature that names the key of {name} is not of it: what was signed was changed"
            )
        found[name] = None
    return tuple(found)


def read_envelope(content: bytes, where: str) -> Envelope:
    """Return an envelope; raise ``CertificateError``, which names ``where`` it is, for anything else."""
    try:
        found = msgspec.json.decode(content, type=Envelope)
        check_keys(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, CaseError) as error:
        raise CertificateError(f"{where} is no DSSE envelope: {error}") from None
    return found
