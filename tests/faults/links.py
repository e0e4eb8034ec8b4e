"""Links in a folder that is handed in: what they name lies elsewhere, and is nobody's to write here."""

from __future__ import annotations

from typing import Final

from tests.faults.fault import Fault, Table

RUN: Final = "run -b wrong_one:Wrong --op broadcast --suite collectives --examples 5 --in-process"

ROWS: Final = (
    (f"{RUN} --resume -o out", "its log, cut short, is a link to a log elsewhere", ("run.jsonl",)),
    (f"{RUN} --resume -o out", "there are links under names that a log may have while it is written",
     ("run.resumed", "run.jsonl.part", "run.jsonl.gz.part", "run.part", ".writable")),
    (f"{RUN} --resume -o out", "its folder of cases is a link", ("cases",)),
    (f"{RUN} --resume -o out", "every case file is a link", ("cases/*", "cases/*.part")),
    (f"{RUN} --resume -o out --against before", "there is a link under the name of the comparison", ("diff.md",)),
    ("report out", "its folder of cases is a link", ("cases",)),
    ("report out", "every file of the report is a link",
     ("index.html", "report.json", "report.md", "junit.xml", "ctrf.json", "badge-wrong-one-wrong.svg")),
    ("known out -o out/known.json --issue https://a.example/1 --owner Ann --expiry 2999-01-01",
     "there are links under the name of the file, and of one half written", ("known.json", "known.json.part")),
)  # fmt: skip

TABLE: Final = Table(
    "Links in a folder",
    "The folder of a run was handed in and has links in it, to files that are there and to files that are not. What "
    "they name is afterwards as it was, whatever else is seen.",
    tuple(
        Fault(f"`conformance {words.partition(' ')[0]}{' --resume' * ('--resume' in words)}`: {what}.", "no other file",
              (words, names))
        for words, what, names in ROWS
    ),
)  # fmt: skip
