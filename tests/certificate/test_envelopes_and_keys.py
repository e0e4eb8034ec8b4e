"""Envelopes that readers take in two ways, signatures that are spelled anew, and keys for which anybody signs."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from conformance.certificate.bundle import ENVELOPE, open_envelope, read_bundle, write_envelope
from conformance.certificate.envelope import Envelope, encoded, signers
from conformance.certificate.error import CertificateError
from conformance.certificate.keys import make_key, read_keys, verified, weak
from conformance.certificate.merkle import root
from tests.certificate.conftest import Vendor

ORDER = 2**252 + 27742317777372353535851937790883648493
ANYBODYS = (1).to_bytes(32, "little") + bytes(32)
"""A signature that nobody's key made: the neutral point, and zero."""


def raw(envelope: Envelope) -> bytes:
    return base64.b64decode(envelope.signatures[0].sig)


def with_signatures(envelope: Envelope, *texts: str) -> Envelope:
    one = envelope.signatures[0]
    return msgspec.structs.replace(envelope, signatures=tuple(msgspec.structs.replace(one, sig=text) for text in texts))


def spelled_otherwise(text: str) -> str:
    """Return base64 with other last bits, which a decoder drops."""
    end = len(text.rstrip("=")) - 1
    return text[:end] + chr(ord(text[end]) + 1) + text[end + 1 :]


def text(content: bytes) -> str:
    return base64.b64encode(content).decode()


ENVELOPES: dict[str, Callable[[Envelope], Envelope]] = {
    "a signature plus the order of the group": lambda e: with_signatures(
        e, text(raw(e)[:32] + (int.from_bytes(raw(e)[32:], "little") + ORDER).to_bytes(32, "little"))
    ),
    "a signature spelled otherwise": lambda e: with_signatures(e, spelled_otherwise(e.signatures[0].sig)),
    "a signature of 65 bytes": lambda e: with_signatures(e, text(raw(e) + b"\0")),
    "an empty signature": lambda e: with_signatures(e, ""),
    "a right one and a wrong one of a key": lambda e: with_signatures(e, text(raw(e)), text(bytes(64))),
    "a wrong one and a right one of a key": lambda e: with_signatures(e, text(bytes(64)), text(raw(e))),
    "another type of the payload": lambda e: msgspec.structs.replace(e, payloadType=e.payloadType.upper()),
    "what was signed as the payload": lambda e: msgspec.structs.replace(e, payload=text(encoded(e))),
}


@pytest.mark.parametrize("how", ENVELOPES)
def test_a_signature_is_held_to_its_bytes(vendor: Vendor, how: str) -> None:
    changed = ENVELOPES[how](open_envelope(vendor.bundle))
    with pytest.raises(CertificateError, match=r"is not of it|no base64|is right"):
        signers(changed, read_keys(vendor.keys))


def test_a_payload_that_is_spelled_otherwise_is_refused() -> None:
    envelope = Envelope(payload=text(b"{}  "), payloadType="application/vnd.in-toto+json", signatures=())
    assert envelope.content == b"{}  "
    with pytest.raises(CertificateError, match="no base64"):
        _ = msgspec.structs.replace(envelope, payload=spelled_otherwise(envelope.payload)).content


@pytest.mark.parametrize("field", ['"payloadType":"text/plain",', '"signatures":[],'])
def test_a_field_of_the_envelope_that_is_there_twice_is_refused(copied: Path, field: str) -> None:
    name = field.partition(":")[0]
    content = (copied / ENVELOPE).read_text()
    (copied / ENVELOPE).write_text(content.replace(name, field + name, 1))
    with pytest.raises(CertificateError, match="twice in one object"):
        read_bundle(copied)


@pytest.mark.parametrize("ending", ["\N{BYTE ORDER MARK}{}", "{}{}"])
def test_an_envelope_is_one_document(copied: Path, ending: str) -> None:
    (copied / ENVELOPE).write_text(ending.replace("{}", (copied / ENVELOPE).read_text()))
    with pytest.raises(CertificateError, match="no DSSE envelope"):
        read_bundle(copied)


@pytest.mark.parametrize("second", [0, 1, 2**255 - 20, 2**255 - 19, 2**255 - 18, 2**255 - 14])
def test_a_key_for_which_anybody_signs_is_not_listed(tmp_path: Path, second: int) -> None:
    public = second.to_bytes(32, "little")
    if second in (1, 2**255 - 18):
        assert verified(public, ANYBODYS, b"whatever it is")
    (tmp_path / "keys").write_text(f"eve ed25519 {text(public)}\n")
    with pytest.raises(CertificateError, match="anybody can sign"):
        read_keys(tmp_path / "keys")
    assert not weak(base64.b64decode(make_key("acme", tmp_path)[1].read_text().split()[2]))


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\N{LINE SEPARATOR}", "\r"])
def test_a_comment_of_a_list_hides_no_key(vendor: Vendor, tmp_path: Path, end: str) -> None:
    _, eve = make_key("eve", tmp_path)
    (tmp_path / "keys").write_text(f"{vendor.keys.read_text()}# the laboratory, from 2027{end}{eve.read_text()}")
    assert [name for name, _ in read_keys(tmp_path / "keys").values()] == ["acme"]


def test_names_of_keys_have_no_letters_that_look_like_others(tmp_path: Path) -> None:
    _, eve = make_key("eve", tmp_path)
    (tmp_path / "keys").write_text(eve.read_text().replace("eve", "\N{CYRILLIC SMALL LETTER IE}ve"))
    with pytest.raises(CertificateError, match="is no key"):
        read_keys(tmp_path / "keys")


def test_one_key_under_two_names_is_listed_once(vendor: Vendor, tmp_path: Path) -> None:
    line = vendor.keys.read_text()
    (tmp_path / "keys").write_text(line + line.replace("acme", "lab"))
    with pytest.raises(CertificateError, match="listed before"):
        read_keys(tmp_path / "keys")


def test_a_signature_that_is_there_twice_counts_once(vendor: Vendor, copied: Path) -> None:
    envelope = open_envelope(copied)
    write_envelope(with_signatures(envelope, *[envelope.signatures[0].sig] * 2), copied / ENVELOPE)
    assert signers(open_envelope(copied), read_keys(vendor.keys)) == ("acme",)


def test_a_leaf_that_is_there_twice_is_another_tree() -> None:
    assert len({root([b"a"] * count) for count in range(1, 9)}) == 8
