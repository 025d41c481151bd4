"""Where findings and counts are gathered while a table is checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from paimonlab.errors import CorruptError, NotFoundError, PaimonError, UnsupportedError
from paimonlab.maintenance.fsck.report import Checked, Finding, Severity

RESTORE = "Restore the file from a copy; without it this state of the table cannot be read."
"""Advice about a file that is needed and lost."""

_ELSEWHERE = "Let a program look at it that reads such files."


@dataclass
class Notes:
    """Findings and counts of one check."""

    table_path: str
    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    _known: set[tuple[str, str]] = field(default_factory=set)
    """File and problem of each finding."""

    def add(
        self,
        path: str,
        problem: str,
        *,
        referrer: str = "",
        advice: str = RESTORE,
        severity: Severity = "error",
    ) -> None:
        """Note a finding, unless it is known."""
        file = self._relative(path)
        if (file, problem) in self._known:
            return
        self._known.add((file, problem))
        self.findings.append(
            Finding(severity=severity, file=file, referrer=referrer, problem=problem, advice=advice)
        )

    @contextmanager
    def taken(self, path: str, *, referrer: str = "", advice: str = RESTORE) -> Iterator[None]:
        """Note an error about a file, and go on."""
        try:
            yield
        except CorruptError as error:
            self.add(error.path, error.problem, referrer=error.referrer or referrer, advice=advice)
        except (NotFoundError, FileNotFoundError):
            self.add(path, "the file is missing", referrer=referrer, advice=advice)
        except UnsupportedError as error:
            problem = f"it is not checked: {error}"
            self.add(path, problem, referrer=referrer, advice=_ELSEWHERE, severity="warning")
        except (PaimonError, OSError, pa.ArrowException) as error:
            self.add(path, f"it cannot be checked: {error}", referrer=referrer, advice=advice)

    def checked(self) -> Checked:
        """Return the counts."""
        return Checked(**self.counts)

    def _relative(self, path: str) -> str:
        return path.removeprefix(f"{self.table_path.rstrip('/')}/")
