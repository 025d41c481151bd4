"""A job that is not wanted any more: what it has in the warehouse and at its source, deleted.

What the source holds goes first, since a replication slot that nobody reads fills the disk of its
server; the notes go last. So a process that is killed in between can be followed by another one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from paimonlab.catalog import Catalog, connect
from paimonlab.catalog.names import DATABASE_SUFFIX
from paimonlab.clock import now_millis
from paimonlab.errors import IngestStateError, NotFoundError, PaimonError
from paimonlab.ingest import dead_letters, leases
from paimonlab.ingest.apart import wait_for_left
from paimonlab.ingest.changes import Held, HoldingSource, Source
from paimonlab.ingest.cuts import cuts_of, remove_cuts
from paimonlab.ingest.described_sources import (
    READING,
    SERVERS,
    Place,
    WordError,
    described_source,
)
from paimonlab.ingest.epochs import Holding, JobFiles, Known
from paimonlab.ingest.landing import land, user_of
from paimonlab.ingest.sources.tables import table_changes

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Something that stays at the source."""

    held: Held
    reason: str
    """Why it was not deleted, or will not be."""

    def __str__(self) -> str:
        return (
            f"{self.held.what} stays at {self.held.where} ({self.reason}). "
            f"Delete it there: {self.held.by_hand}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedJob:
    """What goes with a job, and what stays."""

    job: str
    is_dry_run: bool
    """Whether it would go, and nothing was changed."""
    folder: str
    """Of the notes, which go."""
    running: str | None
    """The process that runs it, which must be stopped before; None: none does."""
    unfinished_epoch: int | None
    """The epoch that is committed to the tables that lack it; None: none is amiss."""
    not_committed: tuple[str, ...] = ()
    """Why tables could not take that epoch, whose rows they lack then; () in a dry run."""
    consumers: tuple[str, ...]
    """Tables from which its consumer goes, which keeps snapshots from expiry."""
    tags: tuple[str, ...]
    """``table tag`` of its epochs, which go."""
    at_source: tuple[Held, ...]
    """What goes there."""
    left: tuple[Left, ...]
    """What cannot go there."""
    tables: tuple[str, ...]
    """They stay, with their rows."""
    dead_letters: str | None
    """The table of rows that were set aside; None: there is none."""
    drops_dead_letters: bool

    def __str__(self) -> str:
        gone = [f"notes in {self.folder}"]
        if self.unfinished_epoch is not None and not self.not_committed:
            gone.insert(0, f"epoch {self.unfinished_epoch} is committed to all of its tables first")
        if self.consumers:
            gone.append(f"consumer {user_of(self.job)} of {', '.join(self.consumers)}")
        if self.tags:
            gone.append(f"tags {', '.join(self.tags)}")
        gone += [f"{one.what} at {one.where}" for one in self.at_source]
        stays = [*self.tables]
        if self.dead_letters is not None:
            (gone if self.drops_dead_letters else stays).append(self.dead_letters)
        verb = "drop" if self.is_dry_run else "dropped"
        lines = [f"{verb} ingest job {self.job}", *(f"  {one}" for one in gone)]
        if stays:
            lines.append(f"tables that stay: {', '.join(stays)}")
        if self.running is not None:
            lines.append(f"it runs, and must be stopped before: {self.running}")
        lines += [f"epoch {self.unfinished_epoch} is lacking: {one}" for one in self.not_committed]
        lines += map(str, self.left)
        return "\n".join(lines)


def drop_job(
    catalog: Catalog,
    files: JobFiles,
    *,
    source: Source | None = None,
    more_tables: Iterable[str] = (),
    dry_run: bool = False,
    with_dead_letters: bool = False,
) -> DroppedJob:
    """Delete what a job has; its tables stay.

    Parameters
    ----------
    catalog, files
        Where the tables and the notes are.
    source
        Of the job; None: it is made as the notes say.
    more_tables
        ``database.table`` that it may have written to, beside those that its notes have.
    dry_run
        Whether nothing is changed.
    with_dead_letters
        Whether the table of rows that were set aside goes, too.

    Raises
    ------
    NotFoundError
        If no source is given, and there is no such job.
    IngestRunningError
        If a process runs it.
    PaimonError, OSError
        If what the source holds is in use, or the store fails. It can be tried again.
    """
    owner = leases.owner_of(files.file_io, files.folder)
    if owner is None and source is None:
        raise NotFoundError(f"ingest job {files.job!r} has no notes in {files.folder}")
    drop = _Drop(catalog, files, source, frozenset(more_tables), with_dead_letters)
    if dry_run:
        running = None
        if owner is not None:
            seen = leases.runs(
                files.file_io, files.folder, owner, leases.LIVES_MILLIS, now_millis()
            )
            running = seen and f"process {owner.process} on {owner.machine}, {seen}"
        return drop.planned(running)
    wait_for_left(files.folder)
    lease = leases.take(files.job, files.file_io, files.folder)
    try:
        done = drop.done()
    finally:
        lease.release()
    files.delete()
    return done


@dataclass(frozen=True, slots=True)
class _Drop:
    """What is asked for."""

    catalog: Catalog
    files: JobFiles
    source: Source | None
    more_tables: frozenset[str]
    with_dead_letters: bool

    def planned(self, running: str | None) -> DroppedJob:
        """Look for what goes and what stays."""
        catalog, job = self.catalog, self.files.job
        newest = self.files.newest()
        known = _known(self.files)
        names = self.more_tables | {*known.targets.values()}
        if newest is not None:
            names |= {commit.table for commit in newest[0].commits}
        dead = {dead_letters.table_of(name.partition(".")[0], job) for name in names}
        there = sorted(name for name in names - dead if catalog.has_table(name))
        letters = next((name for name in sorted(dead) if catalog.has_table(name)), None)
        consumers, tags = [], []
        for name in [*there, *([] if letters is None else [letters])]:
            table = catalog.table(name)
            if user_of(job) in table.consumers.list():
                consumers.append(name)
            tags += [f"{name} {tag}" for tag in cuts_of(table, job)]
        _, held, left = _at_source(catalog, known.holding, self.source)
        return DroppedJob(
            job=job,
            is_dry_run=True,
            folder=self.files.folder,
            running=running,
            unfinished_epoch=newest[0].number if newest is not None and not newest[1] else None,
            consumers=tuple(consumers),
            tags=tuple(tags),
            at_source=tuple(held),
            left=tuple(left),
            tables=tuple(there),
            dead_letters=letters,
            drops_dead_letters=self.with_dead_letters and letters is not None,
        )

    def done(self) -> DroppedJob:
        """Delete what goes, but the notes."""
        catalog, files = self.catalog, self.files
        newest = files.newest()
        plan = self.planned(None)
        left = [*plan.left]
        if plan.at_source:
            holding, _, _ = _at_source(catalog, _known(files).holding, self.source)
            assert holding is not None, "it was asked for the plan"
            reasons = holding.drop()
            left += [
                Left(held=one, reason=reasons[one.what])
                for one in plan.at_source
                if one.what in reasons
            ]
        not_committed: list[str] = []
        if newest is not None and not newest[1]:
            try:
                failed = land(catalog, files.job, newest[0]).failed
            except IngestStateError as error:  # no later run will be able to, either
                not_committed = [str(error)]
            else:
                not_committed = [f"{name}: {reason}" for name, reason in failed.items()]
        letters = [plan.dead_letters] if plan.dead_letters is not None else []
        for name in (*plan.tables, *letters):
            table = catalog.table(name)
            remove_cuts(table, files.job)
            if user_of(files.job) in table.consumers.list():
                table.consumers.delete(user_of(files.job))
        if plan.drops_dead_letters and plan.dead_letters is not None:
            catalog.drop_table(plan.dead_letters)
        stayed = {one.held for one in left}
        return replace(
            plan,
            is_dry_run=False,
            not_committed=tuple(not_committed),
            at_source=tuple(one for one in plan.at_source if one not in stayed),
            left=tuple(left),
        )


def _known(files: JobFiles) -> Known:
    newest = files.newest()
    if newest is None or not newest[0].known:
        return Known()
    return files.known(newest[0].known)


def _at_source(
    catalog: Catalog, noted: Holding | None, source: Source | None
) -> tuple[HoldingSource | None, Sequence[Held], Sequence[Left]]:
    """Return what holds something, what can go there, and what cannot."""
    if source is not None:
        if not isinstance(source, HoldingSource):
            return None, (), ()
        return _asked(source, source.holds())
    if noted is None or not noted.holds:
        return None, (), ()
    try:
        made = _made(catalog, noted.address)
    except (PaimonError, OSError, ValueError) as error:
        return None, (), [Left(held=one, reason=str(error)) for one in noted.holds]
    if made is None:
        reason = "its notes do not say how it is reached"
        return None, (), [Left(held=one, reason=reason) for one in noted.holds]
    return _asked(made, noted.holds)


def _asked(
    source: HoldingSource, holds: Sequence[Held]
) -> tuple[HoldingSource | None, Sequence[Held], Sequence[Left]]:
    if not holds:
        return None, (), ()
    try:
        return source, source.held(), ()
    except (PaimonError, OSError) as error:
        logger.info("%s", error)
        return None, (), [Left(held=one, reason=str(error)) for one in holds]


def _made(catalog: Catalog, address: Mapping[str, object]) -> HoldingSource | None:
    """Make the source of a job from its notes; None: they do not say how."""
    kind = address.get("type")
    if not isinstance(kind, str) or kind not in SERVERS:
        return None
    if kind == "table":
        return _followed(catalog, str(address["table"]), address)
    place = {name: value for name, value in address.items() if name in SERVERS[kind]}
    words = {name: value for name, value in address.items() if name in READING[kind]}
    try:
        made = described_source(Place(kind=kind, words=place), words, catalog)
    except WordError as error:
        raise ValueError(str(error)) from error
    return made if isinstance(made, HoldingSource) else None


def _followed(catalog: Catalog, name: str, address: Mapping[str, object]) -> HoldingSource:
    """Return the table that a job followed, which may be another one's by the same name.

    Raises
    ------
    NotFoundError
        If it is neither in the catalog of the job nor in the warehouse whose folder it was in.
    """
    path = str(address["path"])
    consumer = str(address["consumer"])
    if catalog.has_table(name) and (found := catalog.table(name)).path == path:
        return table_changes(found, consumer=consumer)
    database, _, table = name.partition(".")
    warehouse = path.removesuffix(f"/{database}{DATABASE_SUFFIX}/{table}")
    if warehouse != path:
        other = connect(warehouse)
        if other.has_table(name) and (found := other.table(name)).path == path:
            return table_changes(found, consumer=consumer)
    raise NotFoundError(f"there is no table {name} in {path}")
