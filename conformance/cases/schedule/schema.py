"""The published JSON Schema of the schedule file; ``python -m conformance.cases.schedule.schema`` writes it again."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.cases.schedule.codec import ScheduleFile
from conformance.cases.schedule.schedule import READ
from conformance.cases.schemas import FOLDER, published, written
from conformance.cases.tensor.dtypes import NUMPY


def schedule_schema() -> dict[str, Any]:
    """Return the schema of a schedule file; whether names are declared and maps fit can only be checked by reading."""
    schema: dict[str, Any] = _without_discriminators(msgspec.json.schema(ScheduleFile))
    parts = schema["$defs"]
    parts["ScheduleFile"]["properties"]["format"] = {"enum": list(READ)}
    for name in ("Buffer", "Node", "Tensor", "Cast", "Bitcast"):
        parts[name]["properties"]["dtype"] = {"enum": sorted(NUMPY)}
    for name in ("size", "offset"):
        parts["Buffer"]["properties"][name]["minimum"] = 0
    parts["Collective"]["properties"]["participants"]["minItems"] = 1
    return published("schedule", "A schedule: items in order, the buffers they use, and the graph they are for", schema)


def _without_discriminators(schema: Any) -> Any:
    """Return the schema without OpenAPI's keyword: the constant tag of each kind says the same."""
    if isinstance(schema, dict):
        return {key: _without_discriminators(value) for key, value in schema.items() if key != "discriminator"}
    return [_without_discriminators(value) for value in schema] if isinstance(schema, list) else schema


if __name__ == "__main__":
    (FOLDER / "schedule.schema.json").write_text(written(schedule_schema()))
