"""A drawn case made again from what its record says of it."""

from __future__ import annotations

from typing import Any

from conformance.backends.base import Claims
from conformance.cases.case_error import CaseError
from conformance.generate.claims import Claimed
from conformance.runner.dialects import suites
from conformance.runner.draws import numbered
from conformance.runner.records.origin import Origin


def drawn_again(origin: Origin, claims: Claims | None = None) -> Any:
    """Return the case that a draw makes with this specification.

    ``claims`` are those of the backend that a ``claimed`` draw was made for. Raise ``CaseError`` where there is no such
    suite or operation, or a claimed draw comes without claims.
    """
    known = suites()
    if origin.suite not in known:
        raise CaseError(f"this specification has no suite {origin.suite!r:.80} (known: {', '.join(known)})")
    if origin.op not in known[origin.suite].domains:
        listed = ", ".join(known[origin.suite].domains)
        raise CaseError(f"the suite {origin.suite} draws no cases of {origin.op!r:.80}; it draws them of {listed}")
    if origin.claimed and claims is None:
        raise CaseError(f"{origin} was drawn within the claims of a backend; name the run that has them")
    limits: Claimed = (claims or {}).get(origin.op, {}) if origin.claimed else {}
    case, _ = numbered(known[origin.suite].domains[origin.op], origin.seed, origin.number, limits)
    return case
