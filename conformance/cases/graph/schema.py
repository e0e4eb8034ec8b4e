"""The published JSON Schema of the file of a graph case; ``python -m conformance.cases.graph.schema`` writes it."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.cases.graph.case import FORMAT
from conformance.cases.graph.codec import GraphCaseFile
from conformance.cases.graph.validate import MOST_ROUNDS
from conformance.cases.schemas import FOLDER, narrow_tensors, published, written


def graph_case_schema() -> dict[str, Any]:
    """Return the schema of a file; whether nodes fit, and the id, can only be checked by reading one."""
    schema = msgspec.json.schema(GraphCaseFile)
    parts = schema["$defs"]
    parts["GraphCaseFile"]["properties"]["format"] = {"const": FORMAT}
    parts["GraphCaseFile"]["properties"]["rounds"] |= {"minItems": 1, "maxItems": MOST_ROUNDS}
    narrow_tensors(parts)
    return published("graph-case", "A graph case: a lazy tensor graph, its buffers and its rounds", schema)


if __name__ == "__main__":
    (FOLDER / "graph_case.schema.json").write_text(written(graph_case_schema()))
