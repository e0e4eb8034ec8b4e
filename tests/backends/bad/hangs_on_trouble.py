"""Never answers, and says that it gives up after a tenth of a second."""

from __future__ import annotations

from hangs import Bad as Hangs


class Bad(Hangs):
    @property
    def patience(self):
        return 0.1
