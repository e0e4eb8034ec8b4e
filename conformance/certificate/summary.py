"""What a verifier says of a bundle: a SLSA Verification Summary, signed by the verifier and kept with the bundle."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

import conformance
from conformance.certificate.bundle import SUMMARIES, Bundle, envelope_in, write_envelope
from conformance.certificate.envelope import signed, signers, wrapped
from conformance.certificate.error import CertificateError
from conformance.certificate.keys import Keys, key_id, public_bytes
from conformance.certificate.rerun import Rerun
from conformance.certificate.statement import STATEMENT, SUMMARY

_NAME: Final = re.compile(r"[0-9a-f]{16}\.dsse\.json")

RECOMPUTED: Final = "MESH_CONFORMANCE_RECOMPUTED"
REPRODUCED: Final = "MESH_CONFORMANCE_REPRODUCED"


def summary(bundle: Bundle, passed: bool, found: Rerun | None, nonce: str) -> dict[str, Any]:
    """Return the summary of a verification, as in-toto has it; with a re-run it says how much and by which nonce."""
    said = bundle.statement.predicate
    levels = [RECOMPUTED] if found is None else [RECOMPUTED, REPRODUCED]
    rerun = None if found is None else {"asked": found.asked, "differing": len(found.differing), "nonce": nonce}
    return {
        "_type": STATEMENT,
        "subject": [{"name": each.name, "digest": each.digest} for each in bundle.statement.subject],
        "predicateType": SUMMARY,
        "predicate": {
            "verifier": {
                "id": "urn:mesh-conformance:verifier",
                "version": {"mesh-conformance": conformance.__version__},
            },
            "timeVerified": datetime.now(UTC).isoformat(timespec="seconds"),
            "resourceUri": f"urn:mesh-conformance:product:{said.product.name}:{said.product.version}",
            "policy": {"uri": f"urn:mesh-conformance:profile:{said.profile}", "digest": {"sha256": said.suite.digest}},
            "inputAttestations": [{"uri": said.verdict, "digest": {"sha256": statement_digest(bundle)}}],
            "verificationResult": "PASSED" if passed else "FAILED",
            "verifiedLevels": levels if passed else [],
            "slsaVersion": "1.0",
            "rerun": rerun,
        },
    }


def statement_digest(bundle: Bundle) -> str:
    """Return the SHA-256 of the statement as it was signed."""
    return hashlib.sha256(bundle.envelope.content).hexdigest()


def keep_summary(bundle: Bundle, said: dict[str, Any], key: Any) -> Path:
    """Sign a summary and keep it with the bundle, under the id of the key; return where."""
    check_summaries(bundle)
    folder = bundle.folder / SUMMARIES
    folder.mkdir(exist_ok=True)
    path = folder / f"{key_id(public_bytes(key))[:16]}.dsse.json"
    write_envelope(signed(wrapped(msgspec.json.encode(said)), key), path)
    return path


def check_summaries(bundle: Bundle) -> None:
    """Raise ``CertificateError`` for anything beside the bundle's summaries, and where these are in no folder."""
    folder = bundle.folder / SUMMARIES
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CertificateError(f"{folder} is no folder of its own; remove it")
    strange = (
        sorted(path.name for path in folder.iterdir() if not _NAME.fullmatch(path.name)) if folder.exists() else []
    )
    if strange:
        raise CertificateError(f"{strange[0]!a:.80} in {SUMMARIES}/ is no verification summary; remove it")


def reproduced_by(bundle: Bundle, keys: Keys) -> tuple[str, ...]:
    """Return the names of the listed keys whose owners asked the product again and found the same, each once.

    A summary counts that says what this suite would of this bundle. Who signed the bundle does not count: nobody
    reproduces what is his own. Raise ``CertificateError`` for what is no summary.
    """
    check_summaries(bundle)
    found: dict[str, None] = {}
    own = set(signers(bundle.envelope, keys))
    for path in sorted((bundle.folder / SUMMARIES).glob("*.dsse.json")):
        envelope = envelope_in(path)
        try:
            whole = msgspec.json.decode(envelope.content)
            said = whole["predicate"]
            about = said["inputAttestations"][0]["digest"]["sha256"]
            again = said["rerun"]
            asked, nonce = (0, "") if again is None else (int(again["asked"]), str(again["nonce"]))
            right = summary(bundle, True, Rerun(asked, (), True, (), ()), nonce)
            # Another statement of a listed key may have the same fields and mean something else.
            right["predicate"] |= {name: said[name] for name in ("timeVerified", "verifier")}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError, ValueError):
            raise CertificateError(f"{path} is no verification summary") from None
        if about == statement_digest(bundle) and asked > 0 and whole == right:
            found |= dict.fromkeys(name for name in signers(envelope, keys) if name not in own)
    return tuple(found)
