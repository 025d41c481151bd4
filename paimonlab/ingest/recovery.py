"""The notes of a job made anew from its commits, whose properties are their second copy."""

from __future__ import annotations

from collections.abc import Iterable

from paimonlab.catalog import Catalog
from paimonlab.clock import now_millis
from paimonlab.errors import IngestStateError, NotFoundError
from paimonlab.ingest.epochs import Epoch
from paimonlab.ingest.landing import EPOCH, POSITION, TABLES, user_of
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.table import Table


def recovered(catalog: Catalog, job: str, tables: Iterable[str], owner: str) -> Epoch:
    """Return the newest epoch that all of its tables have.

    Parameters
    ----------
    catalog, job
        Where, and whose.
    tables
        ``database.table`` that the job wrote to.
    owner
        Who makes the notes.

    Raises
    ------
    IngestStateError
        If the tables have no commits of the job that tell a position, or the process died while
        it committed its last epoch, so that some tables lack it.
    """
    newest: dict[str, Snapshot] = {}
    for name in tables:
        if catalog.has_table(name):
            found = _newest(catalog.table(name), user_of(job))
            if found is not None:
                newest[name] = found
    told = [
        (int((snapshot.properties or {}).get(EPOCH, "0")), snapshot) for snapshot in newest.values()
    ]
    if not told:
        raise IngestStateError(job, "no table has a commit of it, so nothing can be recovered")
    number, snapshot = max(told, key=lambda one: one[0])
    properties = snapshot.properties or {}
    if POSITION not in properties:
        raise IngestStateError(
            job, f"its epoch {number} does not say its position, which was too long"
        )
    of_epoch = [name for name in properties.get(TABLES, "").split(",") if name]
    for name in of_epoch:
        there = newest.get(name)
        if there is None and catalog.has_table(name):
            there = _newest(catalog.table(name), user_of(job))
        if there is None or int((there.properties or {}).get(EPOCH, "0")) < number:
            raise IngestStateError(
                job,
                f"its epoch {number} was committed to some of its tables, but not to {name}: its "
                "rows there are lost with the notes. Read the source into new tables",
            )
    return Epoch(
        number=number,
        owner=owner,
        position=properties[POSITION].encode(),
        phase="stream",
        made_millis=now_millis(),
    )


def _newest(table: Table, user: str) -> Snapshot | None:
    """Return the newest snapshot of a user that says its epoch; None: there is none."""
    snapshot = table.snapshot
    while snapshot is not None:
        if snapshot.commit_user == user and EPOCH in (snapshot.properties or {}):
            return snapshot
        try:
            snapshot = table.snapshots.get(snapshot.id - 1) if snapshot.id > 1 else None
        except NotFoundError:
            return None
    return None
