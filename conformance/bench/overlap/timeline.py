"""When each item of a schedule ran, in the Trace Event Format: JSON that Perfetto and chrome://tracing open.

The format is Google's ("Trace Event Format", 2016): complete events (``"ph": "X"``) with begin and length in
microseconds, and metadata events (``"ph": "M"``) that name processes and threads. A process is a rank here. Its first
thread has what it computes, its second what it does for collectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from conformance.backends.opencl.lower import Lowered, Turn
from conformance.backends.opencl.schedule.item import Barrier, Constant, Fused, Item
from conformance.backends.opencl.schedule.legal_orders import turn_of
from conformance.backends.opencl.schedule.schedule import Schedule

THREADS: Final = {0: "computation", 1: "communication"}


def trace_events(made: Schedule, lowered: Lowered, ran: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Return the trace of a schedule, whose items ``ran`` from one time to another, in ns."""
    first = min((start for start, _ in ran), default=0)
    events: list[dict[str, Any]] = []
    for rank in sorted({item.device for item in made.items}):
        events.append({"name": "process_name", "ph": "M", "pid": rank, "tid": 0, "args": {"name": f"rank {rank}"}})
        for thread, name in THREADS.items():
            events.append({"name": "thread_name", "ph": "M", "pid": rank, "tid": thread, "args": {"name": name}})
    for number, (item, (start, end)) in enumerate(zip(made.items, ran, strict=True)):
        turn = turn_of(item, lowered.turns)
        events.append(
            {
                "name": _name(item, turn, lowered),
                "cat": THREADS[int(turn is not None)],
                "ph": "X",
                "ts": (start - first) / 1e3,
                "dur": (end - start) / 1e3,
                "pid": item.device,
                "tid": int(turn is not None),
                "args": {"item": number, "after": list(item.after)},
            }
        )
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _name(item: Item, turn: Turn | None, lowered: Lowered) -> str:
    if isinstance(turn, Turn):
        made = lowered.collectives[turn.collective]
        return f"{made.operation} {made.name}".strip()
    if isinstance(item, Fused):
        return ", ".join(item.launch.asked) or "kernel"
    return {Barrier: "barrier", Constant: "constant"}.get(type(item), "kernel")
