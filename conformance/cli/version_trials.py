"""Cases tried in environments with other versions of packages, as commands ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.cli.progress import Progress
from conformance.history.causes.of_versions import Trial
from conformance.history.versions.bisection import TriedVersions
from conformance.history.versions.environments import Environments
from conformance.history.versions.replays import replayed

ENVIRONMENTS: Final = Path("runs") / "environments"
"""Where environments are kept unless another folder is named."""


def version_trials(folder: Path, further: Sequence[str], case_limit: float, progress: Progress) -> Trial:
    """Return what runs a case with versions of packages, in environments in ``folder`` with ``further`` requirements.

    ``progress`` is told what is installed, and what came of it.
    """

    def trial(versions: Mapping[str, str], beside: Sequence[str], file: Path, backend: str) -> TriedVersions:
        words = ", ".join(f"{each} {version}" for each, version in versions.items())
        progress.tell(f"installing {words}", now=True)
        python = Environments(folder, (*beside, *further)).python(versions)
        found = replayed(python, file, backend, case_limit)
        progress.tell(f"{words}: {found.outcome}{f' ({found.why})' if found.why else ''}", now=True)
        return found

    return trial
