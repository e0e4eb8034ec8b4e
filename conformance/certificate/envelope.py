"""A DSSE envelope: bytes, what they are, and who signed them. What is signed are the bytes as they are."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from conformance.certificate.error import CertificateError
from conformance.certificate.keys import Keys, key_id, public_bytes, verified

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

TYPE: Final = "application/vnd.in-toto+json"

MOST: Final = 64
"""Signatures of an envelope."""


class Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A signature in base64, and the id of the key that made it."""

    keyid: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    sig: Annotated[str, Meta(max_length=100)]


class Envelope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A payload in base64, its type, and signatures over both."""

    payload: str
    payloadType: str  # noqa: N815 - the name that DSSE gives it
    signatures: Annotated[tuple[Signature, ...], Meta(max_length=MOST)]

    @property
    def content(self) -> bytes:
        """Return the payload; raise ``CertificateError`` where it is no base64 or of another type."""
        if self.payloadType != TYPE:
            raise CertificateError(f"the payload is {self.payloadType!r:.80}; {TYPE} is right")
        try:
            return base64.b64decode(self.payload, validate=True)
        except (binascii.Error, ValueError):
            raise CertificateError("the payload of the envelope is no base64") from None


def wrapped(content: bytes) -> Envelope:
    """Return an envelope that nobody signed yet."""
    return Envelope(payload=base64.b64encode(content).decode(), payloadType=TYPE, signatures=())


def signed(envelope: Envelope, key: Ed25519PrivateKey) -> Envelope:
    """Return the envelope with the signature of a key, in place of an earlier one of the same key."""
    public = public_bytes(key)
    made = Signature(keyid=key_id(public), sig=base64.b64encode(key.sign(encoded(envelope))).decode())
    others = tuple(one for one in envelope.signatures if one.keyid != made.keyid)
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
        if not verified(public, base64.b64decode(one.sig), encoded(envelope)):
            raise CertificateError(
                f"the signature that names the key of {name} is not of it: what was signed was changed"
            )
        found[name] = None
    return tuple(found)


def read_envelope(content: bytes, where: str) -> Envelope:
    """Return an envelope; raise ``CertificateError``, which names ``where`` it is, for anything else."""
    try:
        return msgspec.json.decode(content, type=Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CertificateError(f"{where} is no DSSE envelope: {error}") from None
