"""Never answers, and says that a case may need a second."""

from __future__ import annotations

from hangs import Bad as Hangs


class Bad(Hangs):
    @property
    def case_limit(self):
        return 1.0
