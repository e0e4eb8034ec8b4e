"""The scripts of a report: one for each finding, linked from it, and run again all together."""

from __future__ import annotations

from pathlib import Path

from conformance.report.failures.findings import Finding, script_of
from conformance.reproduce.published import run_scripts


def finding(case: str) -> Finding:
    return Finding(
        backend="acme",
        cause="all_reduce.C1 is broken: wrong elements",
        outcome="failed",
        requirement="must",
        clauses=("all_reduce.C1",),
        ops=("all_reduce",),
        dtypes=("int32",),
        cases=1,
        case=case,
        file=f"cases/{case}.json",
        minimal=True,
        detail="y on rank 0: 1 of 1 elements differ",
    )


def test_a_script_whose_bug_is_gone_is_told_from_one_that_shows_it(tmp_path: Path) -> None:
    there, gone, none = finding("there"), finding("gone"), finding("none")
    (tmp_path / "scripts").mkdir()
    for one, status in ((there, 1), (gone, 0)):
        (tmp_path / script_of(one)).write_text(f"print('said'); raise SystemExit({status})")
    shown = {told[0]: still for told, still in run_scripts(tmp_path, (there, gone, none))}
    assert shown == {"acme there": True, "acme gone": False}
