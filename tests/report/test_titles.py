"""Titles of findings, as a person reads them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from conformance.report import ClauseText, Report, clause_texts
from conformance.report.failures.example import Block, Example, NamedValue
from conformance.report.failures.findings import Finding
from conformance.report.failures.titles import title
from conformance.report.formats.html import as_html
from conformance.report.formats.markdown import as_markdown
from conformance.specs import OPS

TEXTS: dict[str, ClauseText] = {text.id: text for text in clause_texts(OPS.values())}


def finding(**changed: Any) -> Finding:
    """Return a finding of JAX, an error of reduce_scatter unless said otherwise."""
    told = Finding(
        backend="jax", cause="ValueError: Cannot lower jaxpr with verifier errors", outcome="errored",
        requirement="must", clauses=("collective.C11",), ops=("reduce_scatter",), dtypes=("float32", "int8", "bool"),
        cases=3, case="reduce_scatter/int32-2/0", file="cases/0.json", minimal=True, detail="", error="ValueError",
    )  # fmt: skip
    return replace(told, **changed)


def case(*steps: str, shape: tuple[int, ...] = (2,), layout: str = "contiguous") -> Example:
    """Return a case of one input."""
    block = Block(ranks="0-1", dtype="int32", shape=shape, layout=layout, values="")
    return Example(steps=steps, inputs=(NamedValue(name="x", blocks=(block,)),))


@pytest.mark.parametrize(
    ("found", "shown", "told"),
    [
        (finding(), case(shape=(0,)), "psum_scatter of empty blocks is refused by the verifier"),
        (finding(error="TypeError", cause="TypeError: no"), None, "psum_scatter raises TypeError"),
        (
            finding(ops=("permute", "shuffle"), outcome="crashed", error="SIGSEGV", dtypes=("bool",)),
            None,
            "ppermute and pshuffle of bool blocks end the process (SIGSEGV)",
        ),
        (
            finding(ops=("all_reduce",), error="NotImplementedError", cause="raised"),
            case('y = all_reduce(x, op="sum") over i in groups [[0], [1]]'),
            "all_reduce with groups is not implemented (NotImplementedError)",
        ),
        (finding(backend="acme", outcome="timeout", ops=("barrier",), dtypes=()), None, "barrier never ends"),
        (
            finding(backend="mpi", outcome="failed", error=None, dtypes=("int8",), clauses=("collective.C4",),
                    detail="y[0] on rank 0 is 1; 2 is right"),
            case(layout="flipped"),
            "MPI_Reduce_scatter_block of int8 blocks in flipped layout",
        ),
    ],
)  # fmt: skip
def test_a_title_says_what_of_which_operands_ends_how(found: Finding, shown: Example | None, told: str) -> None:
    made = title(found, shown, TEXTS)
    assert made.startswith(told.partition("MPI_")[0])
    assert made == told or "MPI" in told
    assert "collective.C" not in made


def test_the_page_and_markdown_lead_with_who_conforms_then_findings_by_backend_then_the_matrix(
    sample_report: Report,
) -> None:
    page, text = as_html(sample_report), as_markdown(sample_report)
    places = [page.index(part) for part in ("Who conforms?", "What was found?", "What holds?")]
    assert places == sorted(places)
    places = [text.index(part) for part in ("| Backend | Verdict |", "## Findings", "## Operations", "## Verdicts")]
    assert places == sorted(places)
    first = sample_report.findings[0]
    assert text.index(f"### {first.backend}") < text.index("## Operations")
    assert first.title
    assert all(one.findings + one.known_findings <= len(sample_report.findings) for one in sample_report.backends)
