"""What whoever holds a bundle, or the vendor's key too, changes in it, and backends that are not what they say."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from conformance.backends.discovery import find
from conformance.backends.reference import Reference
from conformance.certificate.bundle import ENVELOPE, open_envelope, read_bundle, write_envelope
from conformance.certificate.envelope import signed
from conformance.certificate.keys import make_key, read_key
from conformance.certificate.page import BADGE, PAGE
from conformance.certificate.rerun import again, chosen
from conformance.runner.worker.in_process import InProcess

DAY = datetime.now(UTC).date()
GONE = {"clause": "reduction.C1", "owner": "Ann", "reason": "later", "expiry": str(DAY - timedelta(days=1))}
WAIVER = {**GONE, "expiry": str(DAY + timedelta(days=9))}


def entry(number: int, **plain: Any) -> Callable[[list[Any]], list[Any]]:
    """Return what changes the plain guise of one record."""

    def changed(found: list[Any]) -> list[Any]:
        one = found[number]
        found[number] = msgspec.structs.replace(one, plain=msgspec.structs.replace(one.plain, **plain))
        return found

    return changed


def plain(**changes: Any) -> Callable[[list[Any]], list[Any]]:
    """Return what changes the first record of a legal program that passed; which it is depends on the seed."""

    def changed(found: list[Any]) -> list[Any]:
        at = next(at for at, one in enumerate(found) if one.plain.clauses.keys() & {"all_reduce.C1", "broadcast.C1"})
        return entry(at, **changes)(found)

    return changed


def without_guise(found: list[Any]) -> list[Any]:
    return [msgspec.structs.replace(found[0], disguised=None), *found[1:]]


def silent(found: list[Any]) -> list[Any]:
    return entry(3, clauses={})(found)


def diverging(found: list[Any]) -> list[Any]:
    return entry(3, clauses=dict.fromkeys(found[3].plain.clauses, "diverges"))(found)


def foreign(found: list[Any]) -> list[Any]:
    return [*found, msgspec.structs.replace(found[0], index=10_000)]


def said(**fields: Any) -> dict[str, Any]:
    return {"said": lambda found: found.update(fields)}


def whole(**fields: Any) -> dict[str, Any]:
    return {"whole": lambda found: found.update(fields)}


def narrowed(found: dict[str, Any]) -> None:
    found["claims"]["broadcast"]["dtype"] = ["int32"]


def renamed(found: dict[str, Any]) -> None:
    found["product"]["name"] = "Bcme"


def newer(found: dict[str, Any]) -> None:
    found["product"]["version"] = "2.0"


def outside(found: dict[str, Any]) -> None:
    found["floor"]["missing"] = ["broadcast of bool"]


def another_suite(found: dict[str, Any]) -> None:
    found["suite"]["digest"] = "0" * 64


def flattered(found: dict[str, Any]) -> None:
    found["suite"]["version"] = "9.0 gold"


def climbing(found: dict[str, Any]) -> None:
    found["slices"][0]["file"] = "../records-0000.jsonl"


def twice(found: dict[str, Any]) -> None:
    found["slices"] *= 2


def hostile(found: dict[str, Any]) -> None:
    found["product"]["name"] = "Acme\x1b[2J"


def stripped(folder: Path, tmp: Path) -> None:
    write_envelope(msgspec.structs.replace(open_envelope(folder), signatures=()), folder / ENVELOPE)


def by_a_stranger(folder: Path, tmp: Path) -> None:
    stripped(folder, tmp)
    write_envelope(signed(open_envelope(folder), read_key(make_key("eve", tmp)[0])), folder / ENVELOPE)


def under_a_name(folder: Path, tmp: Path) -> None:
    """Sign with a key of one's own under the id of the listed one."""
    before = open_envelope(folder).signatures[0].keyid
    by_a_stranger(folder, tmp)
    one = msgspec.structs.replace(open_envelope(folder).signatures[0], keyid=before)
    write_envelope(msgspec.structs.replace(open_envelope(folder), signatures=(one,)), folder / ENVELOPE)


def edited(folder: Path, tmp: Path) -> None:
    (path,) = folder.glob("records-*")
    path.write_bytes(path.read_bytes().replace(b'"held"', b'"diverges"', 1))


def truncated(folder: Path, tmp: Path) -> None:
    (path,) = folder.glob("records-*")
    path.write_bytes(path.read_bytes()[:-200])


def without_slice(folder: Path, tmp: Path) -> None:
    (path,) = folder.glob("records-*")
    path.unlink()


def linked(folder: Path, tmp: Path) -> None:
    (path,) = folder.glob("records-*")
    shutil.move(path, tmp / "elsewhere")
    path.symlink_to(tmp / "elsewhere")


def with_another_slice(folder: Path, tmp: Path) -> None:
    (folder / "records-0001.jsonl").write_text("{}\n")


def with_a_level(folder: Path, tmp: Path) -> None:
    (folder / "index.html").write_text("<h1>level gold</h1>")


def with_a_case(folder: Path, tmp: Path) -> None:
    (folder / "cases").mkdir(exist_ok=True)
    (folder / "cases" / "harmless.json").write_text("{}")


def without_statement(folder: Path, tmp: Path) -> None:
    (folder / ENVELOPE).unlink()


def nested(folder: Path, tmp: Path) -> None:
    (folder / ENVELOPE).write_text("[" * 100_000)


def of_another_type(folder: Path, tmp: Path) -> None:
    write_envelope(msgspec.structs.replace(open_envelope(folder), payloadType="text/plain"), folder / ENVELOPE)


def another_badge(folder: Path, tmp: Path) -> None:
    path = folder / BADGE
    path.write_text(path.read_text().replace("core: conformant", "full: conformant"))


def another_page(folder: Path, tmp: Path) -> None:
    (folder / PAGE).write_text("# Conformant, level gold: Acme 1.0\n")


def asked_again(folder: Path, backend: Reference, share: float = 1.0) -> tuple[str, ...]:
    found, spec = read_bundle(folder), find("reference")
    return again(found, spec, InProcess(spec, backend=backend), chosen(found, share, "nonce")).differing
