"""Run logs in, reports out: one page for people, the same as JSON and Markdown, JUnit XML for continuous integration.

``read_run`` reads a run directory, ``summarise`` turns runs and the specification into a ``Report``, and
``write_all`` writes every form of it. The report knows the specification only as ``ClauseText`` values.
"""

from conformance.report.error import ReportError
from conformance.report.inputs.explanations import Explanation, read_explanations
from conformance.report.inputs.qualification import UNQUALIFIED, Mutant, Qualification, read_qualification
from conformance.report.inputs.run import Run, read_run, run_of
from conformance.report.inputs.specification import ClauseText, clause_texts
from conformance.report.summarise import summarise
from conformance.report.summary import Report
from conformance.report.write import foreign, write_all

__all__ = [
    "UNQUALIFIED",
    "ClauseText",
    "Explanation",
    "Mutant",
    "Qualification",
    "Report",
    "ReportError",
    "Run",
    "clause_texts",
    "foreign",
    "read_explanations",
    "read_qualification",
    "read_run",
    "run_of",
    "summarise",
    "write_all",
]
