"""What is certified, as its vendor says it in a file, and what its vendor knows that it does not do."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from conformance.certificate.error import CertificateError

_LINE: Final = r"^[^\s\x00-\x1f\x7f-\x9f\u200e-\u202e\u2066-\u2069][^\x00-\x1f\x7f-\x9f\u200e-\u202e\u2066-\u2069]*$"
"""Text that steers neither a terminal nor the direction of what stands beside it."""

Line = Annotated[str, Meta(min_length=1, max_length=200, pattern=_LINE)]
"""A line of text without control characters."""


class Product(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is certified: ``name`` and ``version`` as they are sold, ``vendor``, and whom to write to."""

    name: Line
    version: Line
    vendor: Line
    contact: Line


class Waiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A *must* that the product breaks and its vendor answers for: until the end of the day ``expiry``."""

    clause: Annotated[str, Meta(pattern=r"^[a-z0-9_]+\.C[0-9]+$")]
    owner: Line
    reason: Line
    expiry: date


class ProductFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file ``PRODUCT.toml``: one ``[product]``, and a ``[[waiver]]`` for each clause that is waived."""

    product: Product
    waiver: tuple[Waiver, ...] = ()


def read_product(path: Path) -> ProductFile:
    """Return the product in a file; raise ``CertificateError`` for a field that is missing, wrong or unknown."""
    try:
        found: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        made = msgspec.convert(found, ProductFile)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CertificateError(f"{path} is no TOML: {error}") from None
    except msgspec.ValidationError as error:
        if isinstance(found.get("product"), list):
            raise CertificateError(
                f"{path} has several products; a bundle is about one, so write one [product]"
            ) from None
        right = (
            "right is [product] with name, version, vendor and contact, "
            "and [[waiver]] with clause, owner, reason and expiry"
        )
        raise CertificateError(f"{path}: {error}; {right}") from None
    clauses = [waiver.clause for waiver in made.waiver]
    twice = next((clause for clause in clauses if clauses.count(clause) > 1), None)
    if twice is not None:
        raise CertificateError(f"{path}: {twice} is waived twice; one [[waiver]] for each clause is right")
    return made
