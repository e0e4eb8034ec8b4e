"""The published JSON Schemas of a line of a run log and of a file of known failures.

``python -m conformance.runner.log.schemas`` writes them again.
"""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.cases.schemas import FOLDER, published, written
from conformance.runner.records.known import Known
from conformance.runner.records.record import Record


def run_schema() -> dict[str, Any]:
    """Return the schema of a line: a header, a case, a failure or a footer; their order no schema can say."""
    schema = msgspec.json.schema(Record)
    # OpenAPI's keyword: JSON Schema has none like it, and the constant ``type`` of each record says the same.
    schema.pop("discriminator", None)
    return published("run", "One line of a run log", schema)


def known_schema() -> dict[str, Any]:
    """Return the schema of the file; that names exist, and which day it is, can only be checked by reading one."""
    return published("known", "Known failures", msgspec.json.schema(tuple[Known, ...]))


if __name__ == "__main__":
    (FOLDER / "run.schema.json").write_text(written(run_schema()))
    (FOLDER / "known.schema.json").write_text(written(known_schema()))
