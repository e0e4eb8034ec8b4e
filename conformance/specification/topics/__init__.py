"""What people ask about, in words of their own, with the answer and its clauses.

Here: one file a field, a question in each entry.
Not here: clauses (``specs``), and the names of frameworks (``framework_names``).
"""

from __future__ import annotations

from typing import Final

from conformance.specification.topics.collectives import COLLECTIVES
from conformance.specification.topics.communication import COMMUNICATION
from conformance.specification.topics.numbers import NUMBERS
from conformance.specification.topics.outside import OUTSIDE
from conformance.specification.topics.particular_operations import PARTICULAR
from conformance.specification.topics.programs import PROGRAMS
from conformance.specification.topics.states import STATES
from conformance.specification.topics.topic import Topic

TOPICS: Final[tuple[Topic, ...]] = (
    *COLLECTIVES,
    *PARTICULAR,
    *NUMBERS,
    *PROGRAMS,
    *STATES,
    *COMMUNICATION,
    *OUTSIDE,
)
"""Every topic; those that are outside last."""

__all__ = ["OUTSIDE", "TOPICS", "Topic"]
