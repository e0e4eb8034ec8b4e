"""Virtual environments with this suite and packages of given versions, made when they are needed and kept."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlparse

from conformance.history.error import UnfinishedError

READY: Final = "conformance-environment.json"
"""Stands in an environment whose installation ended well, and says what it has."""

LONGEST: Final = 1800.0
"""Seconds that one installation may take: Torch and what it needs took six minutes over a slow line."""


class Environments:
    """Environments in a folder, by the versions in them."""

    def __init__(self, folder: Path, further: Sequence[str] = ()) -> None:
        """Keep environments in ``folder``, each with the ``further`` requirements too."""
        self._folder, self._further = folder, tuple(further)
        self.made = 0

    def python(self, versions: Mapping[str, str]) -> Path:
        """Return the interpreter of an environment with these packages; ``UnfinishedError`` where it cannot be."""
        wanted = [*(f"{name}=={version}" for name, version in sorted(versions.items())), *self._further]
        digest = hashlib.sha256(json.dumps([wanted, suite(), sys.version]).encode()).hexdigest()[:12]
        named = "-".join(f"{name}-{version}" for name, version in sorted(versions.items()))[:80]
        folder = self._folder / f"{named}-{digest}"
        python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        if (folder / READY).is_file():
            return python
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._run([sys.executable, "-m", "venv", str(folder)], wanted)
        self._run([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *suite(), *wanted], wanted)
        (folder / READY).write_text(json.dumps({"packages": wanted}))
        self.made += 1
        return python

    @staticmethod
    def _run(arguments: Sequence[str], wanted: Sequence[str]) -> None:
        try:
            ended = subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=LONGEST)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnfinishedError(f"{', '.join(wanted)} cannot be installed: {error}") from None
        if ended.returncode:
            said = [line for line in ended.stderr.splitlines() if line.startswith("ERROR")] or ended.stderr.splitlines()
            raise UnfinishedError(f"{', '.join(wanted)} does not install: {said[0] if said else 'pip said nothing'}")


def suite() -> list[str]:
    """Return what pip is told to install of this suite as it is here: its folder, or its version."""
    here = distribution("mesh-conformance")
    told = json.loads(here.read_text("direct_url.json") or "{}")
    if told.get("url", "").startswith("file:"):
        path = unquote(urlparse(told["url"]).path)
        return ["-e", path] if told.get("dir_info", {}).get("editable") else [path]
    return [f"mesh-conformance=={here.version}"]
