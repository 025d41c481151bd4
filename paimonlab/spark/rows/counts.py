"""How many rows a statement changed, and how it answers that."""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.spark.rows.statements import RowStatement


@dataclass(slots=True)
class Counts:
    """Rows that a statement changed."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0

    @property
    def affected(self) -> int:
        """All of them."""
        return self.inserted + self.updated + self.deleted


def result_values(statement: RowStatement, counts: Counts) -> list[int]:
    """Return what the statement answers, as `result_columns` says."""
    values = [counts.affected]
    if statement.source is not None:
        values += [counts.updated, counts.deleted, counts.inserted]
    return values


def result_columns(statement: RowStatement) -> list[str]:
    """Name the columns of the answer."""
    if statement.source is None:
        return ["num_affected_rows"]
    return ["num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows"]
