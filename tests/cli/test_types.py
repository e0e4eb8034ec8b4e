from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.specs.types.jax_rules import DIFFERENCES
from tests.cli.conftest import Conformance

SILENT = """
from conformance.backends.base import Backend


class Silent(Backend):
    name = "silent"
"""


def test_the_native_checker_says_of_every_program_what_the_checker_says(conformance: Conformance) -> None:
    ended = conformance("types", "opencl", "--programs", 40, "--json")
    data = json.loads(ended.out)
    assert ended.status == 0
    assert data["alike"] == data["judged"] == 40


def test_each_class_of_difference_has_its_clauses_and_its_source(conformance: Conformance) -> None:
    pytest.importorskip("jax")
    classes = json.loads(conformance("types", "jax", "--programs", 20, "--json").out)["classes"]
    assert [each["name"] for each in classes] == list(DIFFERENCES)
    assert all(each["clauses"] and each["source"].startswith("jax.") for each in classes)


def test_a_backend_without_types_is_refused(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "without_types.py").write_text(SILENT)
    ended = conformance("types", "without_types:Silent", "--programs", 3)
    assert ended.status == 2
    assert "says nothing about the types" in ended.err
