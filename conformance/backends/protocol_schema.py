"""The published JSON Schema of a line of the worker protocol.

``python -m conformance.backends.protocol_schema`` writes it again.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from conformance.backends.protocol import Reply, Request
from conformance.cases.schemas import FOLDER, published


def protocol_schema() -> dict[str, Any]:
    """Return the schema of a line: ``#/$defs/request`` of what the runner writes, ``#/$defs/reply`` of the answers."""
    (request, reply), parts = msgspec.json.schema_components((Request, Reply), ref_template="#/$defs/{name}")
    for part in (request, reply):
        part.pop("discriminator", None)  # OpenAPI's keyword; the constant ``type`` of each says the same
    either = {"anyOf": [{"$ref": "#/$defs/request"}, {"$ref": "#/$defs/reply"}]}
    return published(
        "protocol",
        "One line of the worker protocol",
        {**either, "$defs": {**parts, "request": request, "reply": reply}},
    )


def text() -> str:
    """Return the text of the file, a line a definition: whole it would be the longest of all schemas."""
    schema = protocol_schema()
    parts = ",\n".join(
        f"    {json.dumps(name)}: {json.dumps(part)}" for name, part in sorted(schema.pop("$defs").items())
    )
    head = json.dumps(schema, indent=2).removesuffix("\n}")
    return f'{head},\n  "$defs": {{\n{parts}\n  }}\n}}\n'


if __name__ == "__main__":
    (FOLDER / "protocol.schema.json").write_text(text())
