"""Cuts through all tables of a job: tags of one name, at which the tables go together.

Tables are committed one after the other, so readers may see one an epoch ahead of another. A tag
``ingest-<job>-<epoch>`` of each says what it was when all were at that epoch.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from paimonlab.catalog import Catalog
from paimonlab.errors import AlreadyExistsError, NotFoundError
from paimonlab.ingest.landing import threads_of
from paimonlab.table.table import Table
from paimonlab.workers import side_by_side


def tag_of(job: str, number: int) -> str:
    """Return the name of the tags of an epoch."""
    return f"{_prefix(job)}{number}"


def _prefix(job: str) -> str:
    return f"ingest-{job}-"


def cut(catalog: Catalog, tables: Iterable[str], job: str, number: int, *, keep: int) -> None:
    """Tag tables as they are, which is after an epoch, and delete tags of earlier ones.

    It can be done again, by a run after one that was killed amid it.

    Parameters
    ----------
    catalog, job
        Where, for whom.
    tables
        Those that the job writes to, whether the epoch had rows of them or not.
    number
        Of the epoch, the newest one.
    keep
        How many epochs have tags.

    Raises
    ------
    PaimonError, OSError
        If a table cannot be tagged.
    """

    def one(name: str) -> None:
        try:
            table = catalog.table(name)
        except NotFoundError:  # it was dropped, and is created when it has rows
            return
        if table.snapshot is not None:
            with suppress(AlreadyExistsError):
                table.tags.create(tag_of(job, number))
        _delete(table, job, up_to=number - keep)

    side_by_side(one, sorted(tables), threads=threads_of(catalog))


def cuts_of(table: Table, job: str) -> list[str]:
    """Return all tags of a job."""
    return [name for name in table.tags.list() if _number(name, job) is not None]


def remove_cuts(table: Table, job: str) -> None:
    """Delete all tags of a job."""
    _delete(table, job, up_to=None)


def _delete(table: Table, job: str, *, up_to: int | None) -> None:
    for name in table.tags.list():
        number = _number(name, job)
        if number is not None and (up_to is None or number <= up_to):
            with suppress(NotFoundError):
                table.tags.delete(name)


def _number(tag: str, job: str) -> int | None:
    """Return the epoch of a tag; None: it is none of the job."""
    number = tag.removeprefix(_prefix(job))
    return int(number) if number != tag and number.isdecimal() else None
