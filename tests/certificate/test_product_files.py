"""Product files and statements of products that say more than they seem to, or in two ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.certificate.error import CertificateError
from conformance.certificate.product import read_product

PRODUCT = '[product]\nname = "Acme"\nversion = "1"\nvendor = "V"\ncontact = "c"\n'
WAIVER = '[[waiver]]\nclause = "reduction.C1"\nowner = "o"\nreason = "r"\nexpiry = 2027-01-31\n'

FILES: dict[str, tuple[str, str]] = {
    "a field twice": (PRODUCT + 'name = "B"\n', "no TOML"),
    "two products": (PRODUCT + PRODUCT, "no TOML"),
    "a number without end": (PRODUCT.replace('"1"', "1e400"), "got `float`"),
    "a number of 5000 digits": (PRODUCT.replace('"1"', "1" * 5000), "no TOML"),
    "a mark before the file": ("\N{BYTE ORDER MARK}" + PRODUCT, "no TOML"),
    "a day with a time": (PRODUCT + WAIVER.replace("01-31", "01-31T00:00:00Z"), "got `datetime`"),
    "a clause waived twice": (PRODUCT + WAIVER + WAIVER, "waived twice"),
    "a waiver of no clause": (PRODUCT + WAIVER.replace("reduction.C1", "gold.C1"), "is no clause"),
    "an escape": (PRODUCT.replace("Acme", r"A\u202eB"), "not shown"),
    "a space at an end": (PRODUCT.replace("Acme", "Acme "), "a space at an end"),
    **{
        f"U+{ord(letter):04X}": (PRODUCT.replace("Acme", f"A{letter}B"), "not shown")
        for letter in "\u3164\u034f\u2800\ufe0f\u200b\u061c\ufeff\u00ad\U000e0041\ufff9\u206a\ue000\u00a0\u2028\u202e"
    },
}


@pytest.mark.parametrize("how", FILES)
def test_a_product_file_is_refused_in_one_line(tmp_path: Path, how: str) -> None:
    text, told = FILES[how]
    (tmp_path / "PRODUCT.toml").write_text(text)
    with pytest.raises(CertificateError, match=told) as error:
        read_product(tmp_path / "PRODUCT.toml")
    assert str(error.value).count("\n") == 0


def test_letters_of_any_alphabet_are_names(tmp_path: Path) -> None:
    (tmp_path / "PRODUCT.toml").write_text(PRODUCT.replace("Acme", "Größe 集合 №1"))
    assert read_product(tmp_path / "PRODUCT.toml").product.name == "Größe 集合 №1"
