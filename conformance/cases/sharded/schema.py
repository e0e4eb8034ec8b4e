"""The published JSON Schema of the file of a sharded case; ``python -m conformance.cases.sharded.schema`` writes it."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.cases.schemas import FOLDER, narrow_tensors, published, written
from conformance.cases.sharded.case import FORMAT
from conformance.cases.sharded.codec import ShardedCaseFile
from conformance.cases.sharded.validate import MOST_AXES as MOST_MESH_AXES
from conformance.cases.sharded.validate import MOST_DEVICES


def sharded_case_schema() -> dict[str, Any]:
    """Return the schema of a file; whether nodes and placements fit, and the id, can only be checked by reading one."""
    schema = msgspec.json.schema(ShardedCaseFile)
    parts = schema["$defs"]
    whole = parts["ShardedCaseFile"]["properties"]
    whole["format"] = {"const": FORMAT}
    whole["mesh"] |= {"minItems": 1, "maxItems": MOST_MESH_AXES}
    whole["devices"] |= {"minItems": 1, "maxItems": MOST_DEVICES}
    narrow_tensors(parts)
    return published("sharded-case", "A sharded case: a program on logical tensors, a mesh and placements", schema)


if __name__ == "__main__":
    (FOLDER / "sharded_case.schema.json").write_text(written(sharded_case_schema()))
