"""The page of a bundle, for people: made of the statement alone, so that whoever verifies one makes it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from conformance.cases.escapes import printable
from conformance.certificate.statement import Predicate, Statement, Verdict
from conformance.report.formats.badge import drawn
from conformance.report.summary import Verdict as Shown

SHOWN = 40
"""Lines of a list; how many more there are is said."""

DEMANDED: Final = ("dtype", "op", "reduction", "world")
"""Features of claims that a profile's table has rows of; of the others it says nothing."""

PAGE: Final = "README.md"
BADGE: Final = "badge.svg"

_SHOWN: Final[Mapping[Verdict, Shown]] = {
    "conformant": "conformant",
    "conformant but for waivers": "partial",
    "not conformant": "not_conformant",
    "incomplete": "incomplete",
}
"""The colour of a verdict: one with waivers has not that of one without."""


def pages(statement: Statement) -> dict[str, bytes]:
    """Return by its name each file that follows from the statement: the front page, and the badge."""
    return {PAGE: page(statement).encode(), BADGE: badge(statement).encode()}


def badge(statement: Statement) -> str:
    """Return an SVG of 20 px height: product, profile and verdict, and how many waivers there are."""
    said = statement.predicate
    label = printable(f"{said.product.name} {said.product.version}")
    return drawn(label, f"{said.profile}: {_verdict(said.verdict, len(said.waivers))}", _SHOWN[said.verdict])


def _verdict(verdict: Verdict, waivers: int) -> str:
    counted = f"{waivers} waiver{'' if waivers == 1 else 's'}"
    if verdict == "conformant but for waivers":
        return f"conformant but for {counted}"
    return f"{verdict}, {counted}" if waivers else verdict


def page(statement: Statement) -> str:
    """Return the front page in Markdown."""
    said = statement.predicate
    product = said.product
    lines = [
        f"# {_verdict(said.verdict, len(said.waivers)).capitalize()}: {_cell(product.name)} {_cell(product.version)}",
        "",
        f"![badge]({BADGE})",
        "",
        f"Profile {said.profile} of Mesh Conformance {_cell(said.suite.version)}, by {_cell(product.vendor)} "
        f"({_cell(product.contact)}), {_cell(said.started)} to {_cell(said.finished)}.",
        "",
        "A bundle is worth what `conformance verify` says of it. It proves that the records are whole and what "
        "they come to; "
        "that the product gave these answers only asking it again proves (docs/certification.md).",
        "",
        f"## What is waived ({len(said.waivers)})",
        "",
        *_listed(
            f"{_cell(w.clause)}: {_cell(w.reason)} (owner {_cell(w.owner)}, until {w.expiry})" for w in said.waivers
        ),
        "",
        f"## What lies outside the claims ({len(said.floor.missing)} of {said.floor.demanded} things demanded)",
        "",
        *_listed(map(_cell, said.floor.missing)),
        "",
        "## What the claims narrow besides",
        "",
        *_listed(map(_cell, _narrowed(said.claims))),
        "",
        "## What else the product declares",
        "",
        *_listed(map(_cell, _declared(said))),
        "",
        "## What the cases came to",
        "",
        "| outcome | cases |",
        "|---|---|",
        *(f"| {_cell(name)} | {count} |" for name, count in said.counts.items()),
        "",
        "Broken clauses:",
        "",
        *_listed(f"{_cell(clause)}: {count} times" for clause, count in said.broken.items()),
        "",
        "## How",
        "",
        f"- Backend {_cell(said.backend)}; seed {said.seed}; {said.cases} cases, each asked again in another guise "
        "where it has one.",
        f"- {_cell(said.isolation)}",
        f"- Merkle root {said.root}; numerical fingerprint {said.fingerprint}; suite {said.suite.digest}.",
        "",
        "Files of the product, as its workers had them mapped:",
        "",
        *_listed(f"{_cell(each.name)} {each.digest.get('sha256', '')}" for each in statement.subject),
        "",
    ]
    return "\n".join(lines)


def _narrowed(claims: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    """Return each limit of the claims that no profile demands to be without, with the operations that have it."""
    found: dict[str, list[str]] = {}
    for op, limits in sorted(claims.items()):
        for feature, words in sorted(limits.items()):
            if feature not in DEMANDED:
                found.setdefault(f"{feature} only {', '.join(words) or 'none'}", []).append(op)
    return [f"{limit}: {', '.join(ops)}" for limit, ops in found.items()]


def _declared(said: Predicate) -> list[str]:
    """Return what the verdict depends on beside the claims: a divergence of a followed source fails nothing."""
    model = {dtype: said.number_model[dtype] for dtype in sorted(said.number_model)}
    return [
        f"guarantees: {', '.join(said.guarantees) or 'none'}",
        f"follows, so that their divergences fail nothing: {', '.join(said.follows) or 'none'}",
        f"number model: {msgspec.json.encode(model, order='deterministic').decode() if model else 'none'}",
    ]


def _listed(rows: Iterable[str]) -> list[str]:
    found = [f"- {row}" for row in rows]
    more = len(found) - SHOWN
    return [*found[:SHOWN], *([f"- and {more} more"] if more > 0 else [])] or ["Nothing."]


def _cell(text: str) -> str:
    """Return text that neither a terminal nor Markdown takes for more than text."""
    shown = printable(text)
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>#|!&" else letter for letter in shown)
