"""What is certified, as its vendor says it in a file, and what its vendor knows that it does not do."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from conformance.certificate.error import CertificateError, file_content
from conformance.runner.dialects import further_clauses
from conformance.specs import every_clause

_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters without a width or a glyph that Unicode does not count as control or format characters."""

Line = Annotated[str, Meta(min_length=1, max_length=200)]
"""A line of text, all of whose characters are shown: it steers neither a terminal nor what stands beside it."""


class Product(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is certified: ``name`` and ``version`` as they are sold, ``vendor``, and whom to write to."""

    name: Line
    version: Line
    vendor: Line
    contact: Line

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for text with characters that are not shown."""
        _check_shown(self.name, self.version, self.vendor, self.contact)


class Waiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A *must* that the product breaks and its vendor answers for: until the end of the day ``expiry``."""

    clause: Annotated[str, Meta(pattern=r"^[a-z0-9_]+\.C[0-9]+\Z")]
    owner: Line
    reason: Line
    expiry: date

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for text with characters that are not shown."""
        _check_shown(self.owner, self.reason)


class ProductFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file ``PRODUCT.toml``: one ``[product]``, and a ``[[waiver]]`` for each clause that is waived."""

    product: Product
    waiver: tuple[Waiver, ...] = ()


def read_product(path: Path) -> ProductFile:
    """Return the product in a file; raise ``CertificateError`` for a field that is missing, wrong or unknown."""
    try:
        found: Mapping[str, Any] = tomllib.loads(file_content(path).decode())
        made = msgspec.convert(found, ProductFile)
    except RecursionError:
        raise CertificateError(f"{path} is no TOML of ours: it is nested too deeply") from None
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
    except CertificateError:
        raise
    except ValueError as error:  # a number of more digits than Python reads is no TOMLDecodeError
        raise CertificateError(f"{path} is no TOML: {error}") from None
    try:
        check_waivers(made.waiver)
    except CertificateError as error:
        raise CertificateError(f"{path}: {error}") from None
    return made


def check_waivers(waivers: Sequence[Waiver]) -> None:
    """Raise ``CertificateError`` for a clause that is waived twice, and for one that does not exist."""
    known = every_clause().keys() | further_clauses().keys()
    for clause, many in Counter(waiver.clause for waiver in waivers).items():
        if many > 1:
            raise CertificateError(f"{clause} is waived twice; one waiver for each clause is right")
        if clause not in known:
            raise CertificateError(f"{clause} is waived, and is no clause; `conformance spec` lists them")


def _check_shown(*texts: str) -> None:
    for text in texts:
        if text != text.strip() or not text.isprintable() or _UNSEEN.search(text):
            raise ValueError(f"{text!a} has characters that are not shown, or a space at an end")
