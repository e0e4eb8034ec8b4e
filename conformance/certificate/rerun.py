"""A sample of a certificate's cases asked again on the verifier's machine; which ones, the verifier alone chooses."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from conformance.backends.discovery import BackendSpec
from conformance.certificate.asking import AskedBackend
from conformance.certificate.bundle import Bundle
from conformance.certificate.case_list import listed, place_of
from conformance.certificate.entries import Entry, Guise
from conformance.certificate.error import CertificateError
from conformance.certificate.mapped import mapped_files, product_files
from conformance.runner.worker.interface import Judgeable


@dataclass(frozen=True)
class Rerun:
    """So many cases were ``asked`` again; ``differing`` says how some came out otherwise.

    ``digests`` says whether digests of observations were compared, or verdicts alone. ``strangers`` are files of the
    product that are other ones here, ``absent`` those that were not mapped here. Of ``sensitive`` reductions, whose
    order shows, ``reordered`` belong to other classes than in the bundle: of whoever guarantees no equal runs that is
    no difference, and all that shows another implementation.
    """

    asked: int
    differing: tuple[str, ...]
    digests: bool
    strangers: tuple[str, ...]
    absent: tuple[str, ...]
    sensitive: int = 0
    reordered: int = 0


def chosen(bundle: Bundle, share: float, nonce: str) -> list[Entry]:
    """Return the sample that a nonce gives: of the cases that were asked the share, and at least one."""
    root = bundle.statement.predicate.root
    order = sorted(
        (hashlib.sha256(f"{nonce}\0{root}\0{entry.index}".encode()).digest(), entry.index)
        for entry in bundle.records
        if entry.plain.observation is not None
    )
    sample = {index for _, index in order[: max(1, round(share * len(order)))]}
    return [entry for entry in bundle.records if entry.index in sample]


def again(
    bundle: Bundle,
    spec: BackendSpec,
    worker: Judgeable,
    sample: list[Entry],
    told: Callable[[int], None] = lambda done: None,
) -> Rerun:
    """Ask the sample; raise ``CertificateError`` where the backend here claims or guarantees something else."""
    said, ready = bundle.statement.predicate, worker.ready
    for name in ("claims", "guarantees", "follows", "number_model"):
        if getattr(ready, name) != getattr(said, name):
            raise CertificateError(f"the {name.replace('_', ' ')} of {spec.name} here are not those of the bundle", 1)
    trials = []
    for entry in sample:
        place = place_of(entry.index, entry.origin)
        assert place is not None  # the list was checked
        one = listed(place, said.claims).one
        assert one is not None
        trials.append(one)
    digests = "run_to_run" in said.guarantees
    differing, sensitive, reordered = [], 0, 0
    for entry, (plain, hidden) in zip(
        sample, AskedBackend(spec.name, worker).pairs(trials, said.seed, told), strict=True
    ):
        for where, was, now in (("", entry.plain, plain), (" in another guise", entry.disguised, hidden)):
            if was is not None and (how := _differs(was, now, digests=digests)):
                differing.append(f"case {entry.index}{where}: {how}")
            elif was is not None and now is not None and was.classes:
                sensitive, reordered = sensitive + 1, reordered + (set(was.classes) != set(now.classes))
    here = dict(product_files(spec, mapped_files(worker).items()))
    files = {each.name: each.digest["sha256"] for each in bundle.statement.subject}
    return Rerun(
        asked=len(sample),
        differing=tuple(differing),
        digests=digests,
        strangers=tuple(name for name in files if name in here and here[name] != files[name]),
        absent=tuple(name for name in files if name not in here),
        sensitive=sensitive,
        reordered=reordered,
    )


def _differs(was: Guise, now: Guise | None, *, digests: bool) -> str:
    if now is None or was.outcome != now.outcome:
        return f"it {was.outcome} and here {now.outcome if now else 'was not asked'}"
    if was.blame != now.blame:
        return f"{was.blame} was to blame, and here {now.blame}"
    if digests and was.observation != now.observation:
        return "the observation has another digest, and equal runs are guaranteed equal bits"
    # Reductions whose order shows tell implementations apart even where no bits are guaranteed.
    return "" if bool(was.classes) == bool(now.classes) else "its reductions belong to other classes"
