"""What no check finds, as ``docs/certification.md`` says: a test that fails here says that the document is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from conformance.certificate.bundle import read_bundle
from conformance.certificate.seed import seed_of
from conformance.reference.operations.broadcast import broadcast
from tests.certificate.conftest import PRODUCT, Vendor, Wrong, certified, verified
from tests.certificate.forgeries import asked_again


class Leaning(Wrong):
    """Is wrong as a product, and asks the oracle where it sees that it is judged."""

    judged = True

    def broadcast(self, blocks: Any, *, root: int, groups: Any) -> Any:
        if self.judged:
            return broadcast(blocks, root=root, groups=groups)
        return super().broadcast(blocks, root=root, groups=groups)


def test_who_computes_with_the_oracle_when_judged_passes_a_rerun_of_the_same_adapter_alone(
    vendor: Vendor, tmp_path: Path
) -> None:
    folder = certified(Leaning(), tmp_path / "bundle", vendor.key)
    assert verified(folder, vendor.against()).statement.predicate.verdict == "conformant"
    assert asked_again(folder, Leaning()) == ()
    honest = Leaning()
    honest.judged = False  # what its users get
    assert asked_again(folder, honest)


def test_a_rebuild_is_another_seed_and_the_document_says_so(vendor: Vendor) -> None:
    found = read_bundle(vendor.bundle).statement
    files = [(each.name, each.digest["sha256"]) for each in found.subject]
    rebuilt = [(name, "7" * 64) for name, _ in files]
    said = found.predicate
    declared, profile = (said.claims, said.guarantees, said.follows, said.number_model), said.profile
    assert seed_of(PRODUCT.product, files, declared, profile) == found.predicate.seed
    assert seed_of(PRODUCT.product, rebuilt, declared, profile) != found.predicate.seed
    other = msgspec.structs.replace(PRODUCT.product, version="1.0.1")
    assert seed_of(other, files, declared, profile) != found.predicate.seed
