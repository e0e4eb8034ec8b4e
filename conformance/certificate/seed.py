"""The seed of a certificate, which nobody chooses: a digest of what is certified, by what, within which claims."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

import conformance
from conformance.certificate.product import Product


def seed_of(product: Product, files: Sequence[tuple[str, str]], declared: Any, profile: str) -> int:
    """Return the seed, a number below 2**60.

    ``files`` are the name and the SHA-256 of each file of the product, in order; ``declared`` is what the backend says
    of itself that verdicts depend on. To try another seed is to ship another product, or other declarations.
    """
    parts = (product, sorted(files), suite_digest(), declared, profile)
    return int(hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:15], 16)


@cache
def suite_digest() -> str:
    """Return the SHA-256 of this installation of the suite: all its code and data but for the folders of caches."""
    folder = Path(str(conformance.__file__)).parent
    total = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            total.update(
                file.relative_to(folder).as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest()
            )
    return total.hexdigest()
