"""Tables of a page whose rows are measured at different times: what is not measured again stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

DAY = "day"
"""The column that tells when a row was measured."""


def with_kept(
    page: Path, name: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, key: Sequence[str]
) -> list[list[str]]:
    """Return new rows, and of those of a page the others.

    Parameters
    ----------
    page
        Of Markdown.
    name
        Of the part that has the table; see `benchmarks.report.replace_part`.
    head
        Columns of the new rows.
    rows
        What was measured.
    key
        Columns that tell what a row is of.

    Returns
    -------
    list of list of str
        Those that the page has in their order, measured anew where they were, then those it lacks.
    """
    at = [list(head).index(column) for column in key]

    def key_of(row: Sequence[str]) -> tuple[str, ...]:
        return tuple(row[place] for place in at)

    new = {key_of(row): list(row) for row in rows}
    old = {key_of(row): row for row in _rows(page, name, head)}
    return list((old | new).values())


def days(rows: Sequence[Sequence[str]], head: Sequence[str]) -> list[str]:
    """Return the days of rows, ascending."""
    place = list(head).index(DAY)
    return sorted({row[place] for row in rows if row[place]})


def _rows(page: Path, name: str, head: Sequence[str]) -> Iterator[list[str]]:
    """Read the rows of a table; columns that it lacks are empty."""
    _, _, part = page.read_text().partition(f"<!-- {name} -->\n")
    part, _, _ = part.partition(f"<!-- end of {name} -->\n")
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    if not lines:
        return
    columns, _, *cells = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines)
    for row in cells:
        found = dict(zip(columns, row, strict=True))
        yield [found.get(column, "") for column in head]
