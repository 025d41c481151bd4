"""What a check of a table found."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Severity: TypeAlias = Literal["error", "warning"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong."""

    severity: Severity
    """An error makes answers fail or be wrong; a warning costs time, or will cost it."""
    file: str
    """Relative to the table, or absolute outside of it."""
    referrer: str
    """Who refers to the file: ``snapshot-3``, ``tag-a``; empty if there is no particular one."""
    problem: str
    advice: str

    def __str__(self) -> str:
        by = f" (referred to by {self.referrer})" if self.referrer else ""
        return f"{self.severity}: {self.file}: {self.problem}{by}. {self.advice}"


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """How much was looked at."""

    branches: int = 0
    schemas: int = 0
    snapshots: int = 0
    tags: int = 0
    changelogs: int = 0
    manifests: int = 0
    """Manifests, manifest lists and index manifests."""
    data_files: int = 0
    """Changelog files included."""
    index_files: int = 0
    rows: int = 0
    """Rows that were read; 0 without ``deep``."""


class FsckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a check of a table found; true in a condition if that is nothing."""

    table: str
    is_deep: bool
    """Whether the rows were read as well."""
    findings: tuple[Finding, ...]
    checked: Checked

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __bool__(self) -> bool:
        return self.is_clean

    def __repr__(self) -> str:
        return str(self)

    @property
    def summary(self) -> str:
        """How much was found, and looked at, in a line."""
        counts = msgspec.structs.asdict(self.checked)
        looked = ", ".join(_many(number, what) for what, number in counts.items() if number)
        verdict = _many(len(self.findings), "findings") if self.findings else "nothing found"
        return f"{self.table}: {verdict} ({looked})"

    def __str__(self) -> str:
        return "\n".join([self.summary, *map(str, self.findings)])

    def to_json(self) -> str:
        """Return the report as a JSON document."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2).decode()


def _many(number: int, what: str) -> str:
    """Write a number of things; ``what`` is their plural."""
    if number == 1:
        what = what.removesuffix("es" if what == "branches" else "s")
    return f"{number:,} {what.replace('_', ' ')}"
