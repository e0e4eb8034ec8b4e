"""The root of a Merkle tree over pieces of bytes, as RFC 6962 (section 2.1) has it, with SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence


def root(pieces: Iterable[bytes]) -> str:
    """Return the root in hex: leaves are hashed behind a zero byte and nodes behind a one, so that none is both."""
    return _root([hashlib.sha256(b"\0" + piece).digest() for piece in pieces]).hex()


def _root(leaves: Sequence[bytes]) -> bytes:
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << (len(leaves) - 1).bit_length() - 1  # the largest power of two below the number
    return hashlib.sha256(b"\1" + _root(leaves[:half]) + _root(leaves[half:])).digest()
