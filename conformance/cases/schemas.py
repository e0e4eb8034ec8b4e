"""The published JSON Schema of the case file; ``python -m conformance.cases.schemas`` writes it again.

Generated from the types that read the file, and narrowed by what those types check in code.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.cases.case import FORMAT
from conformance.cases.codec import CaseFile
from conformance.cases.program.validate import MOST_RANKS
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import MOST_AXES

FOLDER: Final = Path(__file__).parents[1] / "schemas"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def case_schema() -> dict[str, Any]:
    """Return the schema of a case file; names, sizes of blocks and the id can only be checked by reading one."""
    schema = msgspec.json.schema(CaseFile)
    parts = schema["$defs"]
    parts["CaseFile"]["properties"]["format"] = {"const": FORMAT}
    parts["Axis"]["properties"]["size"] |= {"minimum": 1, "maximum": MOST_RANKS}
    parts["Program"]["properties"]["results"]["uniqueItems"] = True
    for name in ("blocks", "layouts"):
        parts["StoredOperand"]["properties"][name] |= {"minItems": 1, "maxItems": MOST_RANKS}
    narrow_tensors(parts)
    return published("case", "A case: a program and its input data", schema)


def narrow_tensors(parts: dict[str, Any]) -> None:
    """Narrow the tensors of a file: to known dtypes, and to bits in the file or in one beside it."""
    for name in parts.keys() & {"Node", "Tensor", "StoredTensor"}:
        parts[name]["properties"]["dtype"] = {"enum": sorted(NUMPY)}
    tensor = parts["StoredTensor"]
    tensor["properties"]["shape"]["maxItems"] = MOST_AXES
    for name in ("bits", "file"):
        tensor["properties"][name] = next(kind for kind in tensor["properties"][name]["anyOf"] if "pattern" in kind)
    tensor["oneOf"] = [{"required": ["bits"]}, {"required": ["file"]}]


def published(name: str, title: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return ``schema`` with the head of a published document, its descriptions without their indentation."""
    for part in schema["$defs"].values():
        part["description"] = inspect.cleandoc(part.get("description", ""))
    return {"$schema": DIALECT, "$id": f"urn:mesh-conformance:{name}:{FORMAT}", "title": title, **schema}


def written(schema: dict[str, Any]) -> str:
    """Return the text of a schema file."""
    return json.dumps(schema, indent=2) + "\n"


if __name__ == "__main__":
    (FOLDER / "case.schema.json").write_text(written(case_schema()))
