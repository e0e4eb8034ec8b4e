"""Ed25519 keys: made, kept in files, and listed by name.

A list of keys is a text file, a line a key: ``NAME ed25519 BASE64``, where the last word is the 32 bytes of the public
key. A line that begins with ``#`` says nothing. Lines end in line feeds alone, so that what looks like one comment is
one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.certificate.error import CertificateError, file_content

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_NAME: Final = re.compile(r"[A-Za-z0-9_.@+-]{1,100}")

_PRIME: Final = 2**255 - 19
_EIGHTH: Final = (
    2707385501144840649318225287225658788936804267575313519463743609750303021401,
    55188659117513257062467267217118295137698188065244968500265048394206261417927,
)
"""The second coordinates of the points of order 8 of Ed25519."""


def make_key(name: str, folder: Path) -> tuple[Path, Path]:
    """Write ``NAME.key``, readable by its owner alone, and ``NAME.pub``, a line of a list; return both paths.

    Raise ``CertificateError`` for a name that is none, and where either file is there.
    """
    if not _NAME.fullmatch(name):
        raise CertificateError(f"{name!r:.120} is no name of a key; write letters, digits and . _ @ + -, 100 at most")
    private, public = folder / f"{name}.key", folder / f"{name}.pub"
    for path in (private, public):
        if os.path.lexists(path):
            raise CertificateError(f"{path} exists and was left as it is; choose another name or folder")
    _needed()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    made = Ed25519PrivateKey.generate()
    text = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with os.fdopen(os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text)
    encoded = base64.b64encode(public_bytes(made)).decode()
    public.write_text(f"{name} ed25519 {encoded}\n", encoding="utf-8")
    return private, public


def read_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a PEM file; raise ``CertificateError`` for anything else."""
    _needed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = file_content(path)
    try:
        found = load_pem_private_key(content, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PrivateKey):
        raise CertificateError(
            f"{path} is no Ed25519 key in PEM without a password; `conformance keygen NAME` makes one"
        )
    return found


def public_bytes(key: Ed25519PrivateKey) -> bytes:
    """Return the 32 bytes of the public half."""
    return key.public_key().public_bytes_raw()


def key_id(public: bytes) -> str:
    """Return what a signature names a key by: the SHA-256 of its 32 bytes, in hex."""
    return hashlib.sha256(public).hexdigest()


def read_keys(path: Path) -> dict[str, tuple[str, bytes]]:
    """Return the listed keys, name and bytes by id; raise ``CertificateError`` for a line that is none."""
    found: dict[str, tuple[str, bytes]] = {}
    names: set[str] = set()
    try:
        lines = file_content(path).decode().split("\n")
    except UnicodeDecodeError:
        raise CertificateError(f"{path} is no list of keys: it is not UTF-8") from None
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        public = _decoded(words)
        where = f"{path}, line {number}"
        if public is None:
            raise CertificateError(
                f"{where} is no key; right is: NAME ed25519 BASE64, as `conformance keygen` writes it"
            )
        if weak(public):
            raise CertificateError(f"{where}: for the key of {words[0]} anybody can sign; have its owner make another")
        if key_id(public) in found or words[0] in names:
            raise CertificateError(f"{where}: the key or the name {words[0]!r:.120} is listed before; list each once")
        names.add(words[0])
        found[key_id(public)] = (words[0], public)
    if not found:
        raise CertificateError(f"{path} lists no key; right is a line for each: NAME ed25519 BASE64")
    return found


def weak(public: bytes) -> bool:
    """Return whether a key is one for which anybody can sign, of order 8 or less, or no number below the prime."""
    second = int.from_bytes(public, "little") & (1 << 255) - 1
    return second in (0, 1, _PRIME - 1, *_EIGHTH) or second >= _PRIME


def verified(public: bytes, signature: bytes, signed: bytes) -> bool:
    """Return whether a signature is that of a key."""
    _needed()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True


Keys = Mapping[str, tuple[str, bytes]]
"""Listed keys: name and public bytes by id."""


def _decoded(words: list[str]) -> bytes | None:
    if len(words) != 3 or words[1] != "ed25519" or not _NAME.fullmatch(words[0]):
        return None
    public = from_base64(words[2])
    return public if public is not None and len(public) == 32 else None


def from_base64(text: str) -> bytes | None:
    """Return what base64 spells; ``None`` for what is none, and for a spelling that no writer of it gives."""
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return found if base64.b64encode(found).decode() == text else None


def _needed() -> None:
    try:
        import cryptography  # noqa: F401 - only whether it is there
    except ImportError:
        raise CertificateError(
            "signatures need the package cryptography: pip install 'mesh-conformance[certify]'"
        ) from None
