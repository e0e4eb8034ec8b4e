"""Quoted functions come with what they need, and with nothing of ours that says nothing about a framework."""

from __future__ import annotations

from conformance.backends.torch import c10d
from conformance.reproduce.quote import Quotation


def test_a_function_is_quoted_with_the_definitions_and_imports_that_it_needs() -> None:
    quoted = Quotation(given=frozenset({"Unsupported"})).add(c10d.all_gather)
    assert [name for _, name in quoted.definitions] == ["joined", "all_gather"]
    assert "import torch.distributed as dist" in quoted.imports
    assert not any("conformance" in line for line in (*quoted.imports, *quoted.definitions.values()))


def test_what_is_quoted_can_be_executed() -> None:
    quoted = Quotation(given=frozenset({"Unsupported"})).add(c10d.all_reduce)
    space = {"Unsupported": NotImplementedError}
    exec("\n".join((*quoted.imports, *quoted.definitions.values())), space)
    assert callable(space["reduction"])
