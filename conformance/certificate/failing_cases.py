"""The folder of a bundle that has the failing cases: each of them, as its record says, and nothing else."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.cases.case_error import CaseError
from conformance.certificate.bundle import CASES, Bundle
from conformance.certificate.case_list import case_digest
from conformance.certificate.error import CertificateError, holds
from conformance.runner.dialects import load_case, save_case
from conformance.runner.outcomes import FAILING
from conformance.runner.records.record import case_file


def check_cases(bundle: Bundle) -> None:
    """Raise ``CertificateError`` for a file that no record names, and for a case that is missing or another."""
    wanted = {case_file(e.name): e.plain.case for e in bundle.records if e.plain.outcome in FAILING}
    folder = bundle.folder / CASES
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CertificateError(f"{CASES} is no folder of its own")
    there = {f"{CASES}/{path.name}": path for path in folder.iterdir()} if folder.is_dir() else {}
    known = wanted.keys() | {_beside(name) for name in wanted}  # where large tensors of a case lie
    strange = sorted(name for name, path in there.items() if name not in known or path.is_symlink())
    if strange or not wanted.keys() <= there.keys():
        told = strange[0] if strange else min(wanted.keys() - there.keys())
        raise CertificateError(
            f"{told!r:.120} is not as the records say: {CASES}/ has each case that failed, and no other"
        )
    for name, digest in wanted.items():
        try:
            found = load_case(bundle.folder / name)
        except (CaseError, OSError) as error:
            raise CertificateError(f"{name:.120} is no case: {error}") from None
        if case_digest(found) != digest:
            raise CertificateError(f"{name:.120} has another case than the record of its name")
        with TemporaryDirectory() as made:
            save_case(found, Path(made) / Path(name).name)
            for each in (name, _beside(name)):
                right, here = Path(made) / Path(each).name, bundle.folder / each
                if not (holds(here, right.read_bytes()) if right.exists() else each not in there):
                    raise CertificateError(f"{each:.120} is not as the suite writes the case of its name")


def _beside(name: str) -> str:
    return f"{name.removesuffix('.json')}.safetensors"
