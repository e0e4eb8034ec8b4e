"""A small profile, a signed bundle of it, and what whoever holds the vendor's key can make of one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("cryptography")

from conformance.backends.discovery import BackendSpec, find
from conformance.backends.reference import Reference
from conformance.certificate import case_list, disguise, profiles, recomputed
from conformance.certificate.bundle import ENVELOPE, Bundle, read_bundle, write_envelope
from conformance.certificate.certify import certify
from conformance.certificate.checks import VerificationTerms, checked
from conformance.certificate.conclusion import concluded
from conformance.certificate.entries import Entry, write_slices
from conformance.certificate.envelope import signed, wrapped
from conformance.certificate.keys import make_key, read_key, read_keys
from conformance.certificate.page import pages
from conformance.certificate.product import Product, ProductFile
from conformance.reference.operations.broadcast import broadcast
from conformance.runner.dialect import Trial
from conformance.runner.dialects import name_of, trial
from conformance.runner.outcomes import FAILING
from conformance.runner.records.record import case_file
from conformance.runner.worker.in_process import InProcess

SMALL = replace(profiles.PROFILES["core"], operations=("all_reduce", "broadcast"), folds=("all_reduce",), examples=14)
PRODUCT = ProductFile(product=Product(name="Acme", version="1.0", vendor="Acme Inc", contact="ann@acme.example"))


class Careful(Reference):
    """Computes as the reference does, and says that equal runs have equal bits."""

    name = "careful"
    guarantees = ("run_to_run", "ranks_agree")


@pytest.fixture(scope="session", autouse=True)
def small() -> Iterator[None]:
    """Let the profile core be small."""
    before = dict(profiles.PROFILES)
    profiles.PROFILES["core"] = SMALL  # type: ignore[index]
    yield
    profiles.PROFILES.update(before)  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)
def meant_once() -> Iterator[None]:
    """Let a case mean what it meant before, and the list be held against records in this process, which remembers it.

    A hundred bundles of the same list are verified, and which clauses speak about its cases takes 2.4 s each time.
    """
    known: dict[tuple[str, str], Trial | None] = {}

    def remembered(case: object, suite: str = "collectives", name: str | None = None) -> Trial | None:
        key = name or name_of(case), suite
        if key not in known:
            known[key] = trial(case, suite, name)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        for module in (case_list, disguise, recomputed):
            patch.setattr(module, "trial", remembered)
        patch.setattr(recomputed, "CHUNK", 1000)
        yield


class Wrong(Careful):
    """Broadcasts the block of the first member, whoever the root is."""

    def broadcast(self, blocks: Any, *, root: int, groups: Any) -> Any:
        return broadcast(blocks, root=0 if 0 <= root < min(map(len, groups)) else root, groups=groups)


def certified(backend: Any, folder: Path, key: Path, product: ProductFile = PRODUCT) -> Path:
    spec: BackendSpec = find("reference")
    worker = InProcess(spec, backend=backend)
    certify(spec, worker, product, profiles.PROFILES["core"], folder, key=read_key(key))
    return folder


@dataclass(frozen=True)
class Vendor:
    """Who certifies: a key, the list that has it, and honest bundles."""

    key: Path
    keys: Path
    bundle: Path

    def against(self, **more: Any) -> VerificationTerms:
        return VerificationTerms(keys=read_keys(self.keys), **more)


@pytest.fixture(scope="session")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    folder = tmp_path_factory.mktemp("vendor")
    key, keys = make_key("acme", folder)
    return Vendor(key, keys, certified(Careful(), folder / "bundle", key))


@pytest.fixture
def copied(vendor: Vendor, tmp_path: Path) -> Path:
    """Return a copy of the honest bundle."""
    return Path(shutil.copytree(vendor.bundle, tmp_path / "bundle"))


@pytest.fixture(scope="session")
def of_wrong(vendor: Vendor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certified(Wrong(), tmp_path_factory.mktemp("wrong") / "bundle", vendor.key)


@pytest.fixture
def failing(of_wrong: Path, tmp_path: Path) -> Path:
    """Return a copy of the honest bundle of a product that fails."""
    return Path(shutil.copytree(of_wrong, tmp_path / "failing"))


def verified(folder: Path, against: VerificationTerms) -> Bundle:
    """Return the bundle in a folder; raise ``CertificateError`` where a check finds something."""
    found = read_bundle(folder)
    for _ in checked(found, against):
        pass
    return found


def forged(
    folder: Path,
    key: Path | None,
    entries: Callable[[list[Entry]], list[Entry]] = lambda found: found,
    said: Callable[[dict[str, Any]], None] = lambda found: None,
    whole: Callable[[dict[str, Any]], None] = lambda found: None,
    *,
    honest_page: bool = True,
) -> None:
    """Write the bundle in ``folder`` anew with other records and another statement, else sound, and sign it."""
    found = read_bundle(folder)
    changed = entries(list(found.records))
    for path in folder.glob("records*"):
        path.unlink()
    for each in changed:
        if each.plain.outcome not in FAILING:
            for path in (folder / case_file(each.name), (folder / case_file(each.name)).with_suffix(".safetensors")):
                path.unlink(missing_ok=True)
    slices, top = write_slices(changed, folder)
    statement = msgspec.to_builtins(found.statement)
    predicate = statement["predicate"]
    came = concluded(changed, found.statement.predicate.waivers, VerificationTerms().day)
    predicate |= {"slices": msgspec.to_builtins(slices), "root": top, "cases": len(changed)}
    predicate |= {
        "counts": came.counts,
        "broken": came.broken,
        "fingerprint": came.fingerprint,
        "verdict": came.verdict,
    }
    said(predicate)
    whole(statement)
    content = msgspec.json.encode(statement)
    if honest_page:
        try:
            made = msgspec.json.decode(content, type=type(found.statement))
        except msgspec.ValidationError:
            pass
        else:
            content = msgspec.json.encode(made, order="deterministic")
            for name, text in pages(made).items():
                (folder / name).write_bytes(text)
    envelope = wrapped(content)
    write_envelope(envelope if key is None else signed(envelope, read_key(key)), folder / ENVELOPE)
