"""What the panel does to a catalog: planned first, and done only while the plan still holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from paimonlab.analysis.planned_call import PlannedCall, planned_call
from paimonlab.errors import ArgumentError, NotFoundError, PaimonError, ReadOnlyError
from paimonlab.notebook.display.numbers import bytes_text, many
from paimonlab.procedures import bind, find
from paimonlab.progress import Progress
from paimonlab.secrets import redacted
from paimonlab.server.warehouses import Opened, opened
from paimonlab.spec.sql_text.call_text import call_text, literal, quoted

MOST_CHANGES = 50
"""Changes that a plan lists; it counts all."""


class StalePlanError(PaimonError):
    """The table has changed since the plan was made."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an action would do."""

    sql: str
    """The statement that does the same."""
    summary: str
    changes: tuple[str, ...]
    """The first `MOST_CHANGES` that it lists."""
    state: str
    """What the plan was made for; doing it takes the same again."""
    is_destructive: bool
    """Whether rows or history can be lost."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """An action, and what it is about."""

    warehouse: Opened
    path: Sequence[str]
    values: Mapping[str, str]

    @property
    def table(self) -> str:
        """``database.table``."""
        if len(self.path) != 3:
            raise NotFoundError("choose a table first")
        return f"{self.path[1]}.{self.path[2]}"

    def text(self, name: str) -> str:
        """Return a value that has to be given."""
        value = self.values.get(name, "").strip()
        if not value:
            raise ArgumentError("the form", f"needs {name.replace('_', ' ')}")
        return value

    def names(self, name: str) -> list[str]:
        """Return names that were separated by commas."""
        return [part.strip() for part in self.values.get(name, "").split(",") if part.strip()]


@dataclass(frozen=True, slots=True)
class _Action:
    plan: Callable[[_Asked], Plan]
    do: Callable[[_Asked, Progress | None], str]


def plan(root: Path, path: Sequence[str], action: str, values: Mapping[str, str]) -> Plan:
    """Say what an action would do, and do nothing.

    Parameters
    ----------
    root
        The folder that Jupyter Server shows.
    path
        Key of a warehouse, then a database and a table where the action needs them.
    action
        One of `ACTIONS`.
    values
        What was typed into the form, by the names of its fields.

    Raises
    ------
    PaimonError
        If it cannot be done.
    """
    asked = _asked(root, path, action, values)
    if asked.warehouse.catalog.is_read_only:
        raise ReadOnlyError(action)
    return ACTIONS[action].plan(asked)


def do(
    root: Path,
    path: Sequence[str],
    action: str,
    values: Mapping[str, str],
    state: str,
    progress: Progress | None = None,
) -> str:
    """Do what was planned, and say what was done.

    Parameters
    ----------
    root, path, action, values
        As for `plan`.
    state
        That of the plan.
    progress
        Called as long work goes on.

    Raises
    ------
    StalePlanError
        If a plan of now would be for another state; nothing was done.
    """
    made = plan(root, path, action, values)
    if made.state != state:
        name = ".".join(path[1:])
        raise StalePlanError(
            f"{name} has changed since it was planned; nothing was done. Plan again"
        )
    return ACTIONS[action].do(_asked(root, path, action, values), progress)


def _asked(root: Path, path: Sequence[str], action: str, values: Mapping[str, str]) -> _Asked:
    if action not in ACTIONS:
        raise NotFoundError(f"there is no action {action}; there are {', '.join(ACTIONS)}")
    warehouse = opened(root, path[0])
    if len(path) > 1:
        warehouse.check(*path[1:3])
    return _Asked(warehouse, path, values)


def _state(asked: _Asked) -> str:
    """Name the snapshot and the schema that a table has now."""
    table = asked.warehouse.table(asked.path[1], asked.path[2])
    snapshot = table.snapshot
    tags = ",".join(sorted(table.tags.list()))
    return f"snapshot {snapshot.id if snapshot else None}, schema {table.schema.id}, tags {tags}"


def _call(asked: _Asked, procedure: str, **arguments: str) -> Plan:
    """Plan a call of a procedure."""
    found = find(procedure)
    bound = bind(found, (), {"table": asked.table, **_typed(arguments)})
    sql = _call_text(asked, procedure, arguments)
    if not found.has_plan:
        return Plan(
            sql=sql,
            summary=found.description,
            changes=(),
            state=_state(asked),
            is_destructive=False,
        )
    catalog = asked.warehouse.catalog
    state = _state(asked)
    planned = planned_call(sql, procedure, found.plan(catalog, bound), folder=catalog.path)
    return Plan(
        sql=sql,
        summary=f"{found.description} {_sums(planned)}",
        changes=tuple(
            " ".join(filter(None, (change.action, change.what, change.name)))
            + (f" ({change.reason})" if change.reason else "")
            for change in planned.changes[:MOST_CHANGES]
        ),
        state=state,
        is_destructive=any(change.action == "delete" for change in planned.changes),
    )


def _sums(planned: PlannedCall) -> str:
    if not planned.change_count:
        return "There is nothing to do."
    size = f", {bytes_text(planned.size_bytes)}" if planned.size_bytes else ""
    return f"{many(planned.change_count, 'change')}, {many(planned.file_count, 'file')}{size}."


def _called(procedure: str, *names: str) -> _Action:
    """Make an action of a procedure that takes a table and values of the form."""

    def arguments(asked: _Asked) -> dict[str, str]:
        return {name: asked.values[name] for name in names if asked.values.get(name, "").strip()}

    def done(asked: _Asked, progress: Progress | None) -> str:
        found = find(procedure)
        bound = bind(found, (), {"table": asked.table, **_typed(arguments(asked))})
        rows = found.call(asked.warehouse.catalog, bound, progress=progress).to_pylist()
        said = ", ".join(f"{name} {value}" for name, value in (rows[0] if rows else {}).items())
        return f"{_call_text(asked, procedure, arguments(asked))}: {said or 'done'}"

    return _Action(lambda asked: _call(asked, procedure, **arguments(asked)), done)


def _typed(arguments: Mapping[str, str]) -> dict[str, str | int]:
    """Give procedures numbers where they take them."""
    return {
        name: int(value) if name == "snapshot" and value.isdecimal() else value
        for name, value in arguments.items()
    }


def _call_text(asked: _Asked, procedure: str, arguments: Mapping[str, str]) -> str:
    return call_text(procedure, asked.table, **_typed(arguments))


def _plan_database(asked: _Asked) -> Plan:
    name = asked.text("name")
    if asked.warehouse.catalog.has_database(name):
        raise ArgumentError("the form", f"the database {name} already exists")
    return Plan(
        sql=f"CREATE DATABASE {quoted(name)}",
        summary=f"Creates the database {name}.",
        changes=(),
        state="absent",
        is_destructive=False,
    )


def _create_database(asked: _Asked, _progress: Progress | None) -> str:
    asked.warehouse.catalog.create_database(asked.text("name"))
    return f"created the database {asked.text('name')}"


def _definition(asked: _Asked) -> tuple[str, dict[str, str]]:
    """Read the name and the columns of a new table: a line for each, its name and its type."""
    if len(asked.path) != 2:
        raise NotFoundError("choose a database first")
    columns: dict[str, str] = {}
    for line in filter(str.strip, asked.text("columns").splitlines()):
        name, _, type = line.strip().rstrip(",").partition(" ")
        if not type.strip() or name in columns:
            raise ArgumentError("the form", f"{line.strip()!r}: each line is a new name and a type")
        columns[name] = type.strip()
    return f"{asked.path[1]}.{asked.text('name')}", columns


def _options(asked: _Asked) -> dict[str, str]:
    lines = filter(str.strip, asked.values.get("options", "").splitlines())
    pairs = (line.partition("=") for line in lines)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _plan_table(asked: _Asked) -> Plan:
    name, columns = _definition(asked)
    if asked.warehouse.catalog.has_table(name):
        raise ArgumentError("the form", f"the table {name} already exists")
    keys, parts, options = asked.names("primary_key"), asked.names("partition"), _options(asked)
    listed = [f"  {quoted(column)} {type}" for column, type in columns.items()]
    if keys:
        options = {"primary-key": ",".join(keys), **options}
    sql = f"CREATE TABLE {'.'.join(map(quoted, name.split('.')))} (\n" + ",\n".join(listed) + "\n)"
    sql += f"\nPARTITIONED BY ({', '.join(map(quoted, parts))})" if parts else ""
    shown = [f"{literal(key)} = {literal(value)}" for key, value in redacted(options).items()]
    sql += f"\nTBLPROPERTIES ({', '.join(shown)})" if shown else ""
    summary = f"Creates the table {name} with {many(len(columns), 'column')}."
    return Plan(sql=sql, summary=summary, changes=(), state="absent", is_destructive=False)


def _create_table(asked: _Asked, _progress: Progress | None) -> str:
    name, columns = _definition(asked)
    asked.warehouse.catalog.create_table(
        name,
        columns,
        primary_keys=asked.names("primary_key"),
        partition_keys=asked.names("partition"),
        options=_options(asked),
    )
    return f"created {name}"


def _plan_drop(asked: _Asked) -> Plan:
    table = asked.warehouse.table(asked.path[1], asked.path[2])
    snapshot = table.snapshot
    rows = snapshot.total_record_count if snapshot else 0
    tags = len(table.tags.list())
    return Plan(
        sql=f"DROP TABLE {'.'.join(map(quoted, asked.table.split('.')))}",
        summary=f"Deletes {asked.table} for good: {many(rows or 0, 'row')} before merging, "
        f"{many(len(table.snapshots.ids()), 'snapshot')}, {many(tags, 'tag')}.",
        changes=(),
        state=_state(asked),
        is_destructive=True,
    )


def _drop(asked: _Asked, _progress: Progress | None) -> str:
    asked.warehouse.catalog.drop_table(asked.table)
    return f"dropped {asked.table}"


ACTIONS: dict[str, _Action] = {
    "create_database": _Action(_plan_database, _create_database),
    "create_table": _Action(_plan_table, _create_table),
    "drop_table": _Action(_plan_drop, _drop),
    "compact": _called("compact", "compact_strategy", "partitions"),
    "create_tag": _called("create_tag", "tag", "snapshot", "time_retained"),
    "delete_tag": _called("delete_tag", "tag"),
    "rollback": _called("rollback", "version"),
    "expire_snapshots": _called("expire_snapshots", "retain_max", "older_than"),
}
"""What can be done, by the name that requests have."""
