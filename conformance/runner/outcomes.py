"""The outcomes of a case, by what each says of a backend."""

from __future__ import annotations

from typing import Final, get_args

from conformance.judging.clause import Outcome
from conformance.runner.records.known import FailingOutcome

OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
"""In the order in which they are shown."""

FAILING: Final[frozenset[Outcome]] = frozenset(get_args(FailingOutcome))
"""Something is broken."""

ENDING: Final[frozenset[Outcome]] = frozenset({"crashed", "timeout", "protocol_error"})
"""So is the process: the worker starts anew."""

OWED: Final[frozenset[Outcome]] = frozenset({"flaky", "adapter_error", "not_run"})
"""They settle nothing about a case that was to be judged, so that the run is incomplete."""

UNJUDGED: Final[frozenset[Outcome]] = OWED | {"unsupported"}
"""They say nothing about the backend."""
