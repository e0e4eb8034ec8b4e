"""How a backend introduces itself: its declarations as the protocol sends them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from conformance.backends import own_reference, protocol
from conformance.backends.base import Backend
from conformance.backends.claim_limits import plain_claims
from conformance.backends.discovery import DeclarationError


def introduce(backend: Backend, loaded: Collection[str] = ()) -> protocol.Ready:
    """Return the name, description, claims, guarantees and number model of ``backend`` as the protocol sends them.

    ``loaded`` are the modules of a process that has none of the suite's reference unless the backend imports it.
    Raise ``DeclarationError`` where one of them is wrong.
    """
    declared = backend.claims
    try:
        claims = plain_claims(declared)
    except TypeError as error:
        raise DeclarationError(str(error)) from error
    name = backend.name or type(backend).__name__
    description = backend.describe() | own_reference.told(backend, claims, loaded)
    if any("faults" in limits for limits in claims.values()):
        description |= {"patience": f"{backend.patience:g} s"}
    try:
        return protocol.Ready(
            protocol=protocol.VERSION,
            name=name,
            description=description,
            claims=claims,
            guarantees=tuple(backend.guarantees),
            follows=tuple(backend.follows),
            number_model=_plain(backend.number_model),
            patience=backend.patience,
            case_limit=backend.case_limit,
            examples=backend.examples,
            adapts=backend.adapts,
            together=dict(backend.together),  # type: ignore[arg-type]  # other words are refused where it is read
        )
    except ValueError as error:
        raise DeclarationError(str(error)) from error


def _plain(declared: Any) -> Any:
    """Return a number model as JSON has it; what is none is for ``Ready`` to refuse."""
    if not isinstance(declared, Mapping):
        return declared
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in declared.items()}
