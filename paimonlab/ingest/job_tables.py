"""The tables of a running job: made, found for rows, and changed as their sources change.

What is known of each source's schema, and of tables that stopped, is kept here and written with the
next epoch.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from paimonlab.catalog import Catalog
from paimonlab.clock import now_millis
from paimonlab.errors import (
    IngestError,
    IngestSchemaError,
    IngestStateError,
    SchemaError,
    UnsupportedError,
)
from paimonlab.ingest import dead_letters
from paimonlab.ingest.changes import (
    HoldingSource,
    JsonValue,
    RereadableSource,
    SampledSource,
    Source,
    SourceSchema,
    SourceSchemaChange,
)
from paimonlab.ingest.epochs import Holding, Known, Stopped
from paimonlab.ingest.evolution import Evolution, Evolve, evolution, merged
from paimonlab.ingest.journal import Journal
from paimonlab.ingest.landing import check_unused, threads_of
from paimonlab.ingest.letters import Letters
from paimonlab.ingest.plan import IngestPlan, PlannedTable, Refused, ingest_plan
from paimonlab.ingest.rules import IngestRules
from paimonlab.ingest.status import position_text
from paimonlab.ingest.targets import Target
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.schema.schema_changes import DropColumn
from paimonlab.spec.types.text import format_type
from paimonlab.table.table import Table
from paimonlab.workers import side_by_side

logger = logging.getLogger(__name__)

_SHOWN_ERRORS = 3


@dataclass(kw_only=True)
class JobTables:
    """Which table takes the rows of which source, and what is known of them."""

    job: str
    catalog: Catalog
    rules: IngestRules
    journal: Journal
    end_epoch: Callable[[], None]
    """Commits rows that wait, if any: a table is about to change."""
    targets: dict[str, Target] = field(default_factory=dict)
    """By ``database.table`` here."""
    has_news: bool = False
    """Whether something is known that no epoch says."""
    again: set[str] = field(default_factory=set)
    """``database.table`` here whose rows are read anew, and replaced when all were read."""
    letters: Letters = field(default_factory=Letters)
    refused: dict[str, Refused] = field(default_factory=dict)
    """By ``database.table`` here: what the source cannot read; the table may not exist."""
    _added: tuple[str, ...] = ()
    """Patterns of tables that were added to what the job was told."""
    _target_of: dict[str, Target | None] = field(default_factory=dict)
    """By source; None: it is not read."""
    _schemas: dict[str, SourceSchema] = field(default_factory=dict)
    _stopped: dict[str, Stopped] = field(default_factory=dict)
    _skipped: dict[str, int] = field(default_factory=dict)
    _places: dict[str, str] = field(default_factory=dict)
    """Where rows of sources went in earlier runs, or would have gone."""
    _holding: Holding | None = None
    _hopes: bool = False
    """Whether no table goes on unless one is read anew."""
    _knows_all: bool = True
    """Whether the source lists all its tables, and not only those that it came upon."""

    @property
    def schemas(self) -> Mapping[str, SourceSchema]:
        """By source, as they are where reading goes on."""
        return dict(self._schemas)

    def restore(self, known: Known) -> None:
        """Take what the newest epoch knows."""
        self._schemas = dict(known.schemas)
        self._stopped, self._skipped = dict(known.stopped), dict(known.skipped)
        self._places = dict(known.targets)
        self.again, self._added = set(known.again), tuple(known.added)
        self.rules = self.rules.widened(self._added)
        self.letters = Letters(known=list(known.letters))
        self._holding = known.holding

    def prepare(self, source: Source, *, is_first_run: bool, is_mended: bool) -> None:
        """Create and alter tables as planned; what stopped may be as it wants.

        Parameters
        ----------
        source
            Of the job.
        is_first_run
            Whether nothing was committed yet.
        is_mended
            Whether a table is to be read anew, also if no other goes on.

        Raises
        ------
        IngestSchemaError
            If some are refused.
        IngestStateError
            If rows would go elsewhere than before.
        """
        found = source.tables()
        if isinstance(source, HoldingSource):
            holding = Holding(holds=list(source.holds()), address=dict(source.address))
            self.has_news = self.has_news or holding != self._holding
            self._holding = holding
        self._knows_all = isinstance(source, RereadableSource) and (
            not isinstance(source, SampledSource) or source.lists_all_tables
        )
        plan = plan_of(self.catalog, found, self.rules, self._schemas)
        goes_on = (bool(plan.tables) or is_mended) and self.rules.on_error != "stop"
        ends_it = [
            one
            for one in plan.refused
            if not (goes_on and (one.is_by_source or one.target in self._stopped))
        ]
        if ends_it:
            reasons = [f"{refused.target}: {refused.reason}" for refused in ends_it]
            more = f"; and {len(reasons) - _SHOWN_ERRORS} more" * (len(reasons) > _SHOWN_ERRORS)
            raise IngestSchemaError(
                self.job,
                f"{_first(reasons)}{more}. Leave tables out with excluding, or change what is said",
            )
        self._hopes = not plan.tables and is_mended
        self.catalog.create_database(self.rules.into, exist_ok=True)
        if is_first_run:
            self._check_unused(plan)
        for planned in plan.tables:
            self._check_places(planned, is_first_run=is_first_run)
        made = side_by_side(self._created, plan.tables, threads=threads_of(self.catalog))
        for planned, table in zip(plan.tables, made, strict=True):
            self._open(planned, table)
            for name in planned.sources:
                if name not in self._schemas:
                    self._schemas[name] = found[name]
                    self.has_news = True
        self._leave_unreadable(plan, found)

    def _leave_unreadable(self, plan: IngestPlan, found: Mapping[str, SourceSchema]) -> None:
        """Let tables be that the source cannot read, and the others go on."""
        for refused in plan.refused:
            self._refuse(refused)
        for target in self.targets.values():
            reason = _refusal(found, target.sources)
            if reason and target.stopped is None:
                self.stop(target, f"{reason}. Rows before are committed")
        for name in [*self._stopped]:
            if name not in self.targets and name not in self.refused:
                self._leave_stopped(name)

    def _leave_stopped(self, name: str) -> None:
        """Forget a table that stopped if it is left out since, or gone; else it stays stopped."""
        sources = tuple(source for source, place in self._places.items() if place == name)
        if sources and (self._knows_all or self.catalog.has_table(name)):
            return
        if any(map(self.rules.wants, sources)):
            reason = self._stopped[name].reason
            self._refuse(Refused(target=name, sources=sources, reason=reason, is_by_source=True))
            return
        del self._stopped[name]
        self.has_news = True

    def _refuse(self, refused: Refused) -> None:
        """Note that the source cannot read what would become a table."""
        name = refused.target
        self.refused[name] = refused
        for source in refused.sources:
            self._target_of[source] = None
            if not self._knows_all:
                self._places[source] = name
        self.journal.warnings.append(f"{name} is not read: {refused.reason}")
        if name not in self._stopped:
            self.stop_unopened(name, refused.reason, self.journal.here())

    def _check_places(self, planned: PlannedTable, *, is_first_run: bool) -> None:
        """Make sure that rows go on where those before went.

        Raises
        ------
        IngestStateError
            If a table of the source went elsewhere: its earlier rows are not read again.
        """
        for source in planned.sources:
            before = self._places.get(source)
            if before is not None and before != planned.name:
                raise IngestStateError(
                    self.job,
                    f"{source} went to {before} so far, not to {planned.name}, which would lack "
                    "what was read before: give the job another name, or the arguments it had",
                )
            is_new = before is None and planned.name not in self._stopped
            if is_new and not is_first_run and self._places:
                self.journal.warnings.append(
                    f"{source} was not read before: {planned.name} gets what comes from here on"
                )
                self.journal.note("note", planned.name, self.journal.warnings[-1])

    def _check_unused(self, plan: IngestPlan) -> None:
        dead = dead_letters.table_of(self.rules.into, self.job)
        for name in (*(table.name for table in plan.tables), dead):
            if self.catalog.has_table(name):
                check_unused(self.job, self.catalog.table(name))

    def _created(self, planned: PlannedTable) -> Table | None:
        """Create a table as planned, or open it; None: it is altered."""
        if planned.definition is not None:
            return self.catalog.create_table(planned.name, planned.definition, exist_ok=True)
        return None if planned.changes else self.catalog.table(planned.name)

    def _open(self, planned: PlannedTable, table: Table | None) -> Target:
        """Write to a table from here on, which was created or opened, or is altered as planned."""
        name = planned.name
        if planned.definition is not None:
            assert table is not None, "it was created"
            self.journal.note("created", name, f"from {', '.join(planned.sources)}")
        elif table is None:
            before = _columns_of(self.catalog.table(name).schema)
            table = self.catalog.alter_table(name, *planned.changes)
            after = _columns_of(table.schema)
            self.journal.note("altered", name, "as the source is", before=before, after=after)
        target = Target(
            name=name,
            table=table,
            sources=list(planned.sources),
            has_own_key=planned.has_own_key,
            added=self.rules.added_for(name.partition(".")[2]),
            stopped=self._stopped.get(name),
            skipped=self._skipped.get(name, 0),
            untold=lambda: self.letters.untold(name),
        )
        self.targets[name] = target
        for source in planned.sources:
            self._target_of[source] = target
        return target

    def target_for(self, source: str, schema: SourceSchema) -> Target | None:
        """Return the table that rows go to, which is created if the source has just got it."""
        if source in self._target_of:
            return self._target_of[source]
        if not self.rules.wants(source):
            self._target_of[source] = None
            return None
        name = f"{self.rules.into}.{self.rules.target_of(source)}"
        there = self.targets.get(name)
        if there is not None and self.rules.merge_shards:
            there.sources.append(source)
            self._target_of[source] = there
            if there.stopped is None:
                self.follow(there, source, None, schema, reason=f"{source} is new in the source")
            return there
        if there is None and name in self._stopped:
            self._target_of[source] = None  # it lacks what came before
            return None
        return self._open_new(name, source, schema, is_taken=there is not None)

    def _open_new(
        self, name: str, source: str, schema: SourceSchema, *, is_taken: bool
    ) -> Target | None:
        """Create or open a table for what the source has just got; None: it is refused."""
        existing = {}
        if self.catalog.has_table(name):
            existing[name] = self.catalog.table(name).schema
        plan = ingest_plan({source: schema}, existing, self.rules)
        if is_taken or plan.refused:
            reason = plan.refused[0].reason if plan.refused else f"{name} has another source"
            self.journal.note("refused", source, reason)
            if self.rules.on_error == "stop":
                raise IngestSchemaError(self.job, f"{source}: {reason}")
            if plan.refused and plan.refused[0].is_by_source:
                self._refuse(plan.refused[0])
                return None
            self.journal.warnings.append(f"{source} is not read: {reason}")
            self._target_of[source] = None
            return None
        target = self._open(plan.tables[0], self._created(plan.tables[0]))
        self._schemas[source] = schema
        self.has_news = True
        return target

    def target_of(self, source: str) -> Target | None:
        """Return the table of a source; None: it is not read, or not known yet."""
        return self._target_of.get(source)

    def follow_rows(self, target: Target, source: str, schema: SourceSchema) -> None:
        """Let a table follow the schema of rows that came, if it is another one."""
        known = self._schemas.get(source)
        if known is schema or schema in target.accepted:
            return
        if known == schema:
            target.accepted.add(schema)
            return
        self.follow(target, source, known, schema, reason="rows of the source")

    def take_change(self, change: SourceSchemaChange) -> None:
        """Let the table of a source follow a change of its schema."""
        before, after = _columns(change.before), _columns(change.after)
        if change.after is not None and change.after.refusal is not None:
            if change.table in self._target_of and self._is_left(change.table):
                return  # it is known
            after = None
        self.journal.note(
            "schema", change.table, change.reason, change.position, before=before, after=after
        )
        if change.after is None:
            text = f"the source dropped {change.table}: its rows are kept here"
            if text not in self.journal.warnings:
                self.journal.warnings.append(text)
            return
        is_new = change.table not in self._target_of
        target = self.target_for(change.table, change.after)
        if target is None or is_new or target.stopped is not None:
            return
        known = self._schemas.get(change.table) or change.before
        self.follow(
            target,
            change.table,
            known,
            change.after,
            renamed=change.renamed,
            reason=change.reason,
            position=change.position,
        )

    def _is_left(self, source: str) -> bool:
        """Whether rows of a table of the source go nowhere."""
        target = self._target_of[source]
        return target is None or target.stopped is not None

    def follow(
        self,
        target: Target,
        source: str,
        before: SourceSchema | None,
        after: SourceSchema,
        *,
        renamed: Mapping[str, str] | None = None,
        reason: str,
        position: JsonValue = None,
    ) -> None:
        """Let a table follow the schema of its source; stop the table if it cannot."""
        target.table.refresh()
        step = self._step(target, before, after, renamed)
        at = self.journal.here() if position is None else position
        if step.refusal is not None:
            rows = "Its rows are kept" if target.replaces else "Rows before are committed"
            self.stop(
                target,
                f"{source} at {position_text(at)}: {step.refusal} ({reason}). {rows}. "
                f"{self._way_out(target.name)}",
                at,
            )
            return
        if step.changes:
            self.end_epoch()
            if target.writer is not None:
                raise IngestError(
                    self.job,
                    f"{source} changes its schema within a transaction larger than max_bytes: give "
                    "more memory",
                )
            old = _columns_of(target.table.schema)
            try:
                table = self.catalog.alter_table(target.name, *step.changes)
            except (SchemaError, UnsupportedError) as error:
                self.stop(target, f"{source} at {position_text(at)}: {error} ({reason})", at)
                return
            target.altered(table, step.changes)
            self.journal.note(
                "altered", target.name, reason, at, before=old, after=_columns_of(table.schema)
            )
        for note in step.notes:
            self.journal.note("note", target.name, note, at)
        known = after
        if before is not None and (after.is_partial or after.is_unordered):
            both = merged(before, after)
            known = after if isinstance(both, str) else both
        if self._schemas.get(source) != known:
            self._schemas[source] = known
            self.has_news = True
        target.accepted.add(after)

    def _way_out(self, name: str) -> str:
        if self._knows_all:
            return (
                f"resnapshot of {name} reads it anew with the columns that the source has then; or "
                "leave it out with excluding"
            )
        return f"Alter or rename {name} and begin a new job, or leave it out"

    def _step(
        self,
        target: Target,
        before: SourceSchema | None,
        after: SourceSchema,
        renamed: Mapping[str, str] | None,
    ) -> Evolution:
        """Decide what a table does about a schema of its source and what is added to that."""
        if after.refusal is not None:
            return Evolution(refusal=after.refusal)
        added = target.added
        lost = added.lost(before, after)
        if lost is not None:
            return Evolution(refusal=lost)
        try:
            old, new = before and added.seen(before), added.seen(after)
        except (SchemaError, UnsupportedError) as error:
            return Evolution(refusal=str(error))
        return evolution(
            target.table.schema,
            old,
            new,
            mode=self.rules.evolve,
            renamed=renamed,
            is_shared=len(target.sources) > 1,
            has_own_key=target.has_own_key,
            mapping=self.rules.type_mapping,
        )

    def schema_of(self, source: str) -> SourceSchema | None:
        """Return the schema of a table of the source, as far as it was followed."""
        return self._schemas.get(source)

    def stop(self, target: Target, reason: str, position: JsonValue = None) -> None:
        """Let a table not go on, and the others do."""
        at = self.journal.here() if position is None else position
        if target.replaces:  # a part of its rows would take the place of all
            target.abort()
            self.again.discard(target.name)
            self.journal.note("resnapshot", target.name, "it ended: the rows before are kept", at)
        target.stopped = Stopped(reason=reason, position=at, at_millis=now_millis())
        self.has_news = True
        self.journal.note("stopped", target.name, reason, at)
        logger.warning("ingest job %s: %s stopped: %s", self.job, target.name, reason)
        if self.rules.on_error == "stop":
            raise IngestSchemaError(self.job, reason)

    def known(self) -> Known:
        """Say what the next epoch is to know."""
        stopped = {**self._stopped}
        skipped = {**self._skipped}
        for name, target in self.targets.items():
            if target.stopped is not None:
                stopped[name], skipped[name] = target.stopped, target.skipped
        targets = dict(self._places)
        targets |= {
            source: target.name for source, target in self._target_of.items() if target is not None
        }
        return Known(
            schemas=dict(self._schemas),
            stopped=stopped,
            skipped=skipped,
            targets=targets,
            added=self._added,
            again=sorted(self.again),
            letters=tuple(self.letters.known),
            holding=self._holding,
        )

    def read_again(self) -> None:
        """Let what comes take the place of the rows of tables that are read anew."""
        self.again &= {*self.targets}
        for name in self.again:
            self.targets[name].replaces = True

    @property
    def is_reading_again(self) -> bool:
        """Whether rows are read that take the place of others."""
        return any(target.replaces for target in self.targets.values())

    def begin_again(self, target: Target, found: Mapping[str, SourceSchema]) -> None:
        """Let all rows of a table be read anew, with the columns that the source has now.

        A table that was dropped is created, one that stopped goes on.

        Parameters
        ----------
        target
            The table.
        found
            Tables of the source as they are.

        Raises
        ------
        IngestSchemaError
            If the table cannot have the columns of the source.
        """
        name = target.name
        if reason := _refusal(found, target.sources):
            raise IngestSchemaError(self.job, f"{name} cannot be read anew: {reason}")
        schemas = {source: found[source] for source in target.sources}
        gone = self._gone(target, schemas)
        is_there = self.catalog.has_table(name)
        if is_there:
            target.table.refresh()
            refusal = self._follow_anew(target, schemas)
            if refusal is not None and target.table.snapshot is not None:
                raise IngestSchemaError(
                    self.job,
                    f"{name} cannot be read anew: {refusal}. Drop it, or give it another name, and "
                    "ask again: it is then created as the source is",
                )
            if refusal is not None:
                self.catalog.drop_table(name)
                is_there = False
        if not is_there:
            plan = ingest_plan(schemas, {}, self.rules)
            if plan.refused:
                raise IngestSchemaError(self.job, f"{name}: {plan.refused[0].reason}")
            target = self._open(plan.tables[0], self._created(plan.tables[0]))
        self._schemas |= schemas
        target.stopped, target.skipped = None, 0
        target.accepted.clear()
        self._stopped.pop(name, None)
        self._skipped.pop(name, None)
        self.again.add(name)
        self.has_news = True
        kept = [column for column in gone if column in target.table.schema.field_names]
        said = f"; null in all of them, as the source has it no more: {', '.join(kept)}"
        self.journal.note("resnapshot", name, f"all rows are read anew{said if kept else ''}")

    def open_refused(self, name: str, found: Mapping[str, SourceSchema]) -> Target:
        """Write to a table that the source could not read so far.

        Parameters
        ----------
        name
            ``database.table`` here, one of `refused`.
        found
            Tables of the source as they are.

        Raises
        ------
        IngestSchemaError
            If it is refused.
        """
        sources = self.refused[name].sources
        schemas = {source: found[source] for source in sources}
        plan = plan_of(self.catalog, schemas, self.rules, {})
        if plan.refused:
            raise IngestSchemaError(self.job, f"{name}: {plan.refused[0].reason}")
        del self.refused[name]
        self._stopped.pop(name, None)
        target = self._open(plan.tables[0], self._created(plan.tables[0]))
        self._schemas |= schemas
        self.has_news = True
        return target

    def _gone(self, target: Target, schemas: Mapping[str, SourceSchema]) -> Sequence[str]:
        """Return the columns that came from the sources of a table and that none has any more."""
        if any(schema.is_partial or schema.is_unordered for schema in schemas.values()):
            return ()
        followed = [one for source in schemas if (one := self._schemas.get(source)) is not None]
        names = dict.fromkeys(name for schema in followed for name in schema.names)
        there = {name for schema in schemas.values() for name in schema.names}
        mine = {*target.table.schema.field_names}
        return [name for name in names if name in mine and name not in there]

    def _follow_anew(self, target: Target, schemas: Mapping[str, SourceSchema]) -> str | None:
        """Alter a table so that it has the columns of its sources; a text says why it cannot."""
        gone = self._gone(target, schemas)
        for schema in schemas.values():
            step = self._step(target, None, schema, None)
            if step.refusal is not None:
                return step.refusal
            changes = step.changes
            if self.rules.evolve is Evolve.EXACT and len(schemas) == 1:
                changes = (*changes, *map(DropColumn, gone))
            if not changes:
                continue
            before = _columns_of(target.table.schema)
            try:
                table = self.catalog.alter_table(target.name, *changes)
            except (SchemaError, UnsupportedError) as error:
                return str(error)
            target.altered(table, changes)
            after = _columns_of(table.schema)
            self.journal.note("altered", target.name, "resnapshot", before=before, after=after)
        return None

    def add(self, pattern: str, schemas: Mapping[str, SourceSchema]) -> None:
        """Read tables, too, that were not wanted until now.

        Parameters
        ----------
        pattern
            For which tables later runs are told.
        schemas
            Those that there are, by ``database.table`` of the source.

        Raises
        ------
        IngestSchemaError
            If one is refused.
        """
        rules = self.rules.widened([pattern])
        existing = {}
        for source in schemas:
            name = f"{rules.into}.{rules.target_of(source)}"
            if self.catalog.has_table(name):
                existing[name] = self.catalog.table(name).schema
        plan = ingest_plan(schemas, existing, rules)
        if plan.refused:
            raise IngestSchemaError(self.job, f"{plan.refused[0].target}: {plan.refused[0].reason}")
        self.rules, self._added = rules, (*self._added, pattern)
        for source, schema in schemas.items():
            self._target_of.pop(source, None)
            target = self.target_for(source, schema)
            self._schemas[source] = schema
            where = "nowhere" if target is None else target.name
            self.journal.note("added", source, f"is read into {where}, rows first")
        self.has_news = True

    def stop_unopened(self, name: str, reason: str, position: JsonValue) -> None:
        """Note that a table that was not opened in this run cannot go on."""
        self._stopped[name] = Stopped(reason=reason, position=position, at_millis=now_millis())
        self.has_news = True
        self.journal.note("stopped", name, reason, position)

    def check_any_goes_on(self) -> None:
        """Make sure that not every table has stopped.

        Raises
        ------
        IngestSchemaError
            If all have.
        """
        reasons = [
            f"{name}: {target.stopped.reason}"
            for name, target in self.targets.items()
            if target.stopped
        ]
        if self._hopes and not self.targets:
            reasons = [f"{name}: {refused.reason}" for name, refused in self.refused.items()]
        if reasons and len(reasons) >= len(self.targets):
            raise IngestSchemaError(self.job, f"no table can go on. {_first(reasons)}")

    def abort(self) -> None:
        """Drop all rows that are not committed."""
        for target in self.targets.values():
            target.abort()


def _refusal(found: Mapping[str, SourceSchema], sources: Iterable[str]) -> str:
    """Say why a source cannot read some of its tables; empty: it can."""
    schemas = [found[name] for name in sources if name in found]
    return "; ".join(schema.refusal for schema in schemas if schema.refusal is not None)


def plan_of(
    catalog: Catalog,
    found: Mapping[str, SourceSchema],
    rules: IngestRules,
    known: Mapping[str, SourceSchema],
) -> IngestPlan:
    """Look at the tables that exist, and decide what a job would do with those of its source."""
    existing = {}
    if catalog.has_database(rules.into):
        there = set(catalog.tables(rules.into))
        for name in {*found, *known}:
            target = rules.target_of(name)
            if target in there and rules.wants(name):
                full = f"{rules.into}.{target}"
                existing[full] = catalog.table(full).schema
    return ingest_plan(found, existing, rules, known=known)


def _columns_of(schema: TableSchema) -> tuple[str, ...]:
    """Write the columns of a table for the journal."""
    return tuple(f"{field.name} {format_type(field.type)}" for field in schema.fields)


def _columns(schema: SourceSchema | None) -> tuple[str, ...] | None:
    return None if schema is None else tuple(map(str, schema.columns))


def _first(reasons: Iterable[str]) -> str:
    return "; ".join(list(reasons)[:_SHOWN_ERRORS])
