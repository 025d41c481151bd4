"""Tables that combine whatever can be combined, under random hands, beside dicts of their rows."""

from __future__ import annotations

import operator
import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.text import parse_type
from tests.model.any_table import (
    INNER,
    PLAIN,
    STRUCT,
    STRUCTS,
    WIDER,
    Column,
    Key,
    Maker,
    Row,
)
from tests.repetitions import times

TABLES = times(6)
STEPS = 14
KEYS: Mapping[str, Sequence[Any]] = {"INT": range(9), "STRING": [*"abcdefg", "", "é"]}
KIND = "kind"
SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">=": operator.ge,
    "<>": operator.ne,
}


@dataclass
class State:
    """What a snapshot holds, and under which columns."""

    columns: tuple[Column, ...]
    rows: list[Row]


@dataclass
class Line:
    """A branch."""

    columns: list[Column]
    live: dict[Key, Row] = field(default_factory=dict)
    states: dict[int, State] = field(default_factory=dict)
    tags: dict[str, tuple[int, State]] = field(default_factory=dict)

    def copy(self) -> Line:
        return Line(
            list(self.columns),
            {key: dict(row) for key, row in self.live.items()},
            dict(self.states),
            dict(self.tags),
        )


def text_of(value: Any) -> str:
    """Write a value so that equal ones have the same text."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return repr(sorted(value))
    return repr(value)


def shown(columns: Sequence[Column], rows: Sequence[Row]) -> list[str]:
    return sorted(
        " | ".join(text_of(one.shown(row.get(one.number))) for one in columns) for row in rows
    )


def seen(found: pa.Table, columns: Sequence[Column]) -> list[str]:
    assert found.column_names == [one.name for one in columns]
    return sorted(" | ".join(map(text_of, row.values())) for row in found.to_pylist())


class Hands:
    """Does the same to a table and to dicts."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.rng, self.folder = rng, folder
        roots = [f"file:{folder / 'outside' / name}" for name in "ab"]
        self.catalog = pl.connect(folder / "warehouse")
        self.catalog.create_database("db")
        while True:
            self.maker = Maker(rng, roots)
            self.made = made = self.maker.definition()
            try:
                self.catalog.create_table(
                    "db.t",
                    {one.name: one.sql for one in made.columns},
                    primary_keys=made.keys,
                    partition_keys=made.partition,
                    options=made.options,
                )
                break
            except (SchemaError, UnsupportedError):
                continue  # that does not go together
        self.lines = {"main": Line(list(made.columns))}
        self.branch = "main"
        self.count = 0
        self.steps: list[str] = [repr(made)]
        self.buckets = int(made.options["bucket"])
        self.is_rescaled = False
        self.base: tuple[int, list[Row]] | None = (0, [])
        """From where on the changelog is checked."""

    # --- what there is

    @property
    def line(self) -> Line:
        return self.lines[self.branch]

    @property
    def name(self) -> str:
        return "db.t" if self.branch == "main" else f"db.t$branch_{self.branch}"

    @property
    def table(self) -> Any:
        return self.catalog.table(self.name)

    def told(self) -> str:
        return "\n".join(self.steps)

    def key(self, row: Row) -> Key:
        if not self.made.keys:
            self.count += 1
            return (self.count,)
        return tuple(row["kp".index(name)] for name in self.made.keys)

    # --- rows

    def some_rows(self, most: int) -> list[Row]:
        keys = KEYS[self.line.columns[self._place("k")].base]
        rows = []
        for _ in range(self.rng.randint(1, most)):
            row = {one.number: one.some(self.rng) for one in self.line.columns}
            row |= {0: self.rng.choice(keys), 1: self.rng.choice("xyz")}
            if self.made.group and row[self.made.group[0]] is None:
                row |= dict.fromkeys(self.made.group)  # what Java shows of them, nobody foretells
            rows.append(row)
        return rows

    def _place(self, name: str) -> int:
        return next(place for place, one in enumerate(self.line.columns) if one.name == name)

    def data(self, rows: Sequence[Row]) -> pa.Table:
        return pa.table(
            {
                one.name: pa.array(
                    [one.shown(row.get(one.number)) for row in rows], to_arrow(parse_type(one.sql))
                )
                for one in self.line.columns
            }
        )

    def apply(self, kind: str, row: Row) -> None:
        key = self.key(row)
        merged = self.made.merge(self.line.live.pop(key, None), kind, row)
        if merged is not None:
            self.line.live[key] = merged

    def settle(self) -> None:
        if self.made.is_late:
            self.table.compact(full=True)

    def committed(self) -> None:
        """Remember what the newest snapshot holds, and look whether it does."""
        self.settle()
        self.look()

    def look(self) -> None:
        table, line = self.table, self.line
        latest = table.snapshots.latest()
        rows = [dict(row) for row in line.live.values()]
        if latest is not None:
            line.states[latest.id] = State(self._schema_of(latest), rows)
        assert seen(table.scan().to_arrow(), line.columns) == shown(line.columns, rows), self.told()
        assert table.scan().count() == len(rows), self.told()

    def _schema_of(self, snapshot: Any) -> tuple[Column, ...]:
        names = [one.name for one in self.table.schema.fields]
        if snapshot.schema_id == self.table.schema.id:
            assert names == [one.name for one in self.line.columns]
            return tuple(self.line.columns)
        known = self.line.states.get(snapshot.id)
        return known.columns if known else ()

    # --- steps

    def write(self) -> None:
        rows = self.some_rows(6)
        if self.made.engine in ("partial-update", "aggregation") and self.made.deletes:
            # A writer merges what it has of a key: a delete before an insert is not kept.
            rows = list({self.key(row)[0]: row for row in rows}.values())
        kinds = ["+I"] * len(rows)
        data = self.data(rows)
        if self.made.keys and self.made.deletes:
            live = set(self.line.live)
            for place, row in enumerate(rows):
                key = self.key(row)
                may = self.made.engine != "aggregation" or key in live
                if may and self.rng.random() < 0.25:
                    kinds[place] = "-D"
                    if self.made.moves:
                        row[1] = self.line.live.get(key, row)[1]
                live.add(key)
                if kinds[place] == "-D" and "aggregation.remove-record-on-delete" in (
                    self.made.options
                ):
                    live.discard(key)
            data = self.data(rows).append_column(KIND, pa.array(kinds))
        self.steps.append(f"write {list(zip(kinds, rows, strict=True))}")
        if KIND in data.column_names:
            self.table.write(data, row_kinds=KIND)
        else:
            self.table.write(data)
        for kind, row in zip(kinds, rows, strict=True):
            self.apply(kind, row)
        self.committed()

    def compact(self) -> None:
        full = self.rng.random() < 0.5
        self.steps.append(f"compact {full}")
        self.table.compact(full=full)
        self.committed()

    def compact_manifests(self) -> None:
        self.steps.append("compact manifests")
        self.table.compact_manifests()
        self.committed()

    def condition(self) -> tuple[str, Callable[[Row], bool | None]]:
        rng, columns = self.rng, self.line.columns
        column = rng.choice(columns)
        number = column.number
        if column.base in ("INT", "BIGINT", "TINYINT", "SMALLINT", "STRING", "DOUBLE", "DATE") or (
            column.base.startswith(("DEC", "TIMESTAMP"))
        ):
            held = (one.get(number) for one in self.line.live.values())
            values = [column.shown(value) for value in held if value is not None]
            value = rng.choice(values) if values else column.shown(column.some(rng))
            if value is not None:
                sign = rng.choice([*SIGNS])
                test = SIGNS[sign]

                def holds(row: Row) -> bool | None:
                    held = column.shown(row.get(number))
                    return None if held is None else test(held, value)

                return f"`{column.name}` {sign} {literal(value)}", holds
        if rng.random() < 0.5:
            return f"{column.name} IS NULL", lambda row: row.get(number) is None
        return f"{column.name} IS NOT NULL", lambda row: row.get(number) is not None

    def delete(self) -> None:
        removes = self.made.engine in ("append", "deduplicate", "partial-update")
        if not (self.made.deletes and removes) or self.made.options.get("ignore-delete"):
            return
        text, holds = self.condition()
        self.steps.append(f"delete {text}")
        self._reset(before=True)
        self.table.delete(text)
        line = self.line
        line.live = {key: row for key, row in line.live.items() if holds(row) is not True}
        self.committed()
        self._reset()

    def update(self) -> None:
        if self.made.engine not in ("append", "deduplicate"):
            return
        free = [one for one in self.line.columns if one.base in ("INT", "BIGINT", "STRING")]
        free = [one for one in free if one.number > 1 and one.number not in self.made.fixed]
        if not free:
            return
        column = self.rng.choice(free)
        value = self.rng.choice((7, 8)) if column.base != "STRING" else "up"
        text, holds = self.condition()
        self.steps.append(f"update {column.name} = {value} where {text}")
        self.table.update({column.name: literal(value)}, where=text)
        for row in self.line.live.values():
            if holds(row) is True:
                row[column.number] = value
        self.committed()

    def overwrite(self) -> None:
        if self.made.moves:
            return
        rows = self.some_rows(4)
        dynamic = bool(self.made.partition) and self.rng.random() < 0.6
        self.steps.append(f"overwrite dynamic={dynamic} {rows}")
        self._reset(before=True)
        self.table.overwrite(self.data(rows), dynamic=dynamic)
        gone = {row[1] for row in rows}
        line = self.line
        line.live = {k: row for k, row in line.live.items() if dynamic and row[1] not in gone}
        for row in rows:
            self.apply("+I", row)
        self.committed()
        self._reset()

    def drop_partition(self) -> None:
        if not self.made.partition:
            return
        p = self.rng.choice("xyz")
        self.steps.append(f"drop {p}")
        self._reset(before=True)
        self.table.drop_partitions([{"p": p}])
        self.line.live = {key: row for key, row in self.line.live.items() if row[1] != p}
        self.committed()
        self._reset()

    def truncate(self) -> None:
        if self.rng.random() < 0.6:
            return
        self.steps.append("truncate")
        self._reset(before=True)
        self.table.truncate()
        self.line.live = {}
        self.committed()
        self._reset()

    def rescale(self) -> None:
        if self.buckets < 1 or len(self.lines) > 1:
            return
        self.is_rescaled = True
        self.buckets = self.buckets % 3 + 1
        self.steps.append(f"rescale {self.buckets}")
        self._reset(before=True)
        self.table.maintenance.rescale(buckets=self.buckets)
        self.committed()
        self._reset()

    # --- columns

    def alter(self, change: Any) -> None:
        self.steps.append(f"alter {change}")
        self.catalog.alter_table(self.name, change)

    def replace(self, old: Column, new: Column) -> None:
        self.line.columns[self.line.columns.index(old)] = new

    def free(self) -> list[Column]:
        fixed = self.made.fixed | set(self.made.functions) | {0, 1}
        return [one for one in self.line.columns if one.number not in fixed]

    def new_name(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def add_column(self) -> None:
        column = self.maker.column(self.new_name(), self.rng.choice(PLAIN))
        first = self.rng.random() < 0.3
        self.alter(pl.AddColumn(column.name, column.sql, first=first))
        self.line.columns.insert(0 if first else len(self.line.columns), column)
        self.look()

    def drop_column(self) -> None:
        if free := self.free():
            column = self.rng.choice(free)
            self.alter(pl.DropColumn(column.name))
            self.line.columns.remove(column)
            self.look()

    def rename_column(self) -> None:
        if free := self.free():
            column = self.rng.choice(free)
            name = self.new_name()
            self.alter(pl.RenameColumn(column.name, name))
            self.replace(column, replace(column, name=name))
            self.look()

    def move_column(self) -> None:
        column = self.rng.choice(self.line.columns[1:])
        self.alter(pl.MoveColumn(column.name, first=True))
        self.line.columns.remove(column)
        self.line.columns.insert(0, column)
        self.look()

    def widen_column(self) -> None:
        fixed = self.made.fixed | {0, 1}
        free = [one for one in self.line.columns if one.base in WIDER and one.number not in fixed]
        if free:
            column = self.rng.choice(free)
            new = self.rng.choice(WIDER[column.base])
            self.alter(pl.UpdateColumnType(column.name, new))
            self.replace(column, replace(column, type=new))
            self.look()

    def change_inside(self) -> None:
        fixed = self.made.fixed | {0, 1}
        structs = [
            one
            for one in self.line.columns
            if one.base in (STRUCT, STRUCTS) and one.number not in fixed
        ]
        if not structs:
            return
        rng = self.rng
        column = rng.choice(structs)
        path = column.name if column.base == STRUCT else f"{column.name}.element"
        fields = list(column.fields)
        what = rng.choice(["add", "rename", "drop", "widen"])
        one = rng.choice(fields)
        place = fields.index(one)
        if what == "add":
            new = self.maker.column(self.new_name(), rng.choice([*INNER]))
            self.alter(pl.AddColumn(f"{path}.{new.name}", new.sql))
            fields.append(new)
        elif what == "rename":
            name = self.new_name()
            self.alter(pl.RenameColumn(f"{path}.{one.name}", name))
            fields[place] = replace(one, name=name)
        elif what == "drop" and len(fields) > 1:
            self.alter(pl.DropColumn(f"{path}.{one.name}"))
            del fields[place]
        elif what == "widen" and INNER[one.type]:
            self.alter(pl.UpdateColumnType(f"{path}.{one.name}", INNER[one.type]))
            fields[place] = replace(one, type=INNER[one.type])
        self.replace(column, replace(column, fields=tuple(fields)))
        self.look()

    # --- history

    def tag(self) -> None:
        if not self.line.states:
            return
        chosen = self.rng.choice([*self.line.states])
        name = self.new_name()
        self.steps.append(f"tag {name} {chosen}")
        self.table.tags.create(name, snapshot=chosen)
        self.line.tags[name] = (chosen, self.line.states[chosen])

    def expire(self) -> None:
        kept = self.rng.randint(1, 3)
        self.steps.append(f"expire {kept}")
        self.table.maintenance.expire_snapshots(kept, older_than=None, max_deletes=100)
        ids = set(self.table.snapshots.ids())
        self.line.states = {i: state for i, state in self.line.states.items() if i in ids}
        self.look()
        self._reset()

    def clean(self) -> None:
        self.steps.append("clean orphans")
        for path in self.folder.rglob("*"):
            os.utime(path, (0, 0))
        self.table.maintenance.remove_orphan_files(dry_run=False)
        self.look()

    def roll_back(self) -> None:
        if not self.line.states or len(self.lines) > 1 or self.is_rescaled:
            return  # to another number of buckets than the table has
        line = self.line
        then = self.rng.choice([*line.states][-4:])
        self.steps.append(f"roll back to {then}")
        self.table.maintenance.rollback_to(snapshot=then)
        line.live = {self.key(row): dict(row) for row in line.states[then].rows}
        line.states = {i: state for i, state in line.states.items() if i <= then}
        line.tags = {name: one for name, one in line.tags.items() if one[0] <= then}
        self.look()
        self._reset()

    def go_to_branch(self) -> None:
        main = self.lines["main"]
        if len(self.lines) == 1:
            whole = [tag for tag, (_, state) in main.tags.items() if state.columns]
            if not whole or self.is_rescaled:
                return
            tag = self.rng.choice(whole)
            self.steps.append(f"branch from {tag}")
            self.table.branches.create("b", tag=tag)
            snapshot, state = main.tags[tag]
            live = {self.key(row): dict(row) for row in state.rows}
            self.lines["b"] = Line(
                list(state.columns), live, {snapshot: state}, {tag: main.tags[tag]}
            )
        self.branch = "b" if self.branch == "main" else "main"
        self.steps.append(f"on {self.branch}")
        self.look()
        self._reset()

    def fast_forward(self) -> None:
        if len(self.lines) == 1 or self.branch == "b" or self.made.producer:
            return  # a tag from which a branch came has no changelog
        self.steps.append("fast forward")
        self.table.branches.fast_forward("b")
        main, other = self.lines["main"], self.lines["b"]
        first = min(other.states)
        states = {i: state for i, state in main.states.items() if i < first} | other.states
        tags = {name: one for name, one in main.tags.items() if one[0] < first} | other.tags
        live = {key: dict(row) for key, row in other.live.items()}
        self.lines["main"] = Line(list(other.columns), live, states, tags)
        self.table.branches.delete("b")
        del self.lines["b"]
        self.look()
        self._reset()

    # --- reads

    def read_some(self) -> None:
        text, holds = self.condition()
        columns = self.line.columns
        chosen = self.rng.sample(columns, self.rng.randint(1, len(columns)))
        rows = [row for row in self.line.live.values() if holds(row) is True]
        scan = self.table.scan([one.name for one in chosen], text)
        self.steps.append(f"read {[one.name for one in chosen]} where {text}")
        assert seen(scan.to_arrow(), chosen) == shown(chosen, rows), self.told()
        assert scan.count() == len(rows), self.told()

    def travel(self) -> None:
        line = self.line
        some = [(i, state) for i, state in line.states.items() if state.columns]
        for snapshot, state in self.rng.sample(some, min(2, len(some))):
            found = self.table.scan(snapshot=snapshot)
            assert seen(found.to_arrow(), state.columns) == shown(state.columns, state.rows), (
                self.told(),
                snapshot,
            )
        for tag, (_, state) in line.tags.items():
            if state.columns:
                found = self.table.scan(tag=tag)
                assert seen(found.to_arrow(), state.columns) == shown(state.columns, state.rows), (
                    self.told(),
                    tag,
                )

    def difference(self) -> None:
        line = self.line
        if len(line.states) < 2 or not self.made.keys:
            return
        start, end = sorted(self.rng.sample([*line.states], 2))
        self.steps.append(f"difference {start} to {end}")
        columns = line.columns

        def lines_of(rows: Sequence[Row]) -> dict[Any, str]:
            return {self.located(row): shown(columns, [row])[0] for row in rows}

        old, new = lines_of(line.states[start].rows), lines_of(line.states[end].rows)
        wanted = [f"- {text}" for key, text in old.items() if key not in new]
        wanted += [f"+ {text}" for key, text in new.items() if old.get(key) != text]
        found = self.table.changes(start, end, mode="diff").to_arrow()
        kinds = found.column("rowkind").to_pylist()
        rows = found.drop_columns("rowkind").to_pylist()
        texts = [" | ".join(map(text_of, row.values())) for row in rows]
        got = [
            f"{'-' if k in ('-D', '-U') else '+'} {text}"
            for k, text in zip(kinds, texts, strict=True)
        ]
        assert sorted(got) == sorted(wanted), self.told()

    def located(self, row: Row) -> Key:
        return (*self.key(row), row[1] if self.made.moves else None)

    def _reset(self, *, before: bool = False) -> None:
        """Look at the changelog, before what has none; or begin anew behind it."""
        if not self.made.producer:
            return
        if before:
            self.changelog()
        self.table.compact(full=True)
        latest = self.table.snapshots.latest()
        self.base = (latest.id if latest else 0, [dict(row) for row in self.line.live.values()])

    def changelog(self) -> None:
        """Apply the changelog to the rows from where it begins."""
        if not self.made.producer or not self.line.states or self.base is None:
            return
        self.table.compact(full=True)
        self.look()
        start, rows = self.base
        latest = self.table.snapshots.latest()
        if latest is None or latest.id <= start:
            return
        self.steps.append(f"changelog {start} to {latest.id}")
        columns = self.line.columns
        state = {self.located(row): shown(columns, [row])[0] for row in rows}
        k, p = self._place("k"), self._place("p")
        found = self.table.changes(start, latest.id, mode="changelog").to_arrow()
        kinds = found.column("rowkind").to_pylist()
        is_strict = self.made.producer != "input"
        for kind, row in zip(kinds, found.drop_columns("rowkind").to_pylist(), strict=True):
            values = list(row.values())
            text = " | ".join(map(text_of, values))
            by = {"k": values[k], "p": values[p]}
            key = (*(by[name] for name in self.made.keys), by["p"] if self.made.moves else None)
            told = f"{self.told()}\n{found.to_pylist()}\n{kind} {text}; {state.get(key)}"
            if kind in ("-U", "-D"):
                held = state.pop(key, None)
                assert not is_strict or held == text, told
            else:
                assert not is_strict or key not in state, told
                state[key] = text
        wanted = shown(columns, [*self.line.live.values()])
        assert sorted(state.values()) == wanted, f"{self.told()}\n{found.to_pylist()}"
        self._reset()

    def go(self) -> None:
        steps: list[tuple[Callable[[], None], int]] = [
            (self.write, 14),
            (self.compact, 4),
            (self.compact_manifests, 1),
            (self.delete, 3),
            (self.update, 3),
            (self.overwrite, 2),
            (self.drop_partition, 1),
            (self.truncate, 1),
            (self.rescale, 2),
            (self.add_column, 2),
            (self.drop_column, 1),
            (self.rename_column, 2),
            (self.move_column, 1),
            (self.widen_column, 3),
            (self.change_inside, 4),
            (self.tag, 2),
            (self.expire, 2),
            (self.clean, 1),
            (self.roll_back, 1),
            (self.go_to_branch, 3),
            (self.fast_forward, 2),
            (self.read_some, 5),
            (self.travel, 3),
            (self.difference, 3),
            (self.changelog, 2),
        ]
        self.write()
        for step in self.rng.choices(*map(list, zip(*steps, strict=True)), k=STEPS):
            step()
        self.read_some()
        self.travel()
        self.difference()
        self.changelog()
        found = self.table.fsck(deep=True).findings
        assert found == (), f"{self.told()}\n{found}"


def literal(value: Any) -> str:
    match value:
        case str():
            return f"'{value}'"
        case int() | float():
            return str(value)
    name = type(value).__name__
    if name == "Decimal":
        return str(value) if "E" not in str(value) else f"CAST('{value}' AS DECIMAL(22, 3))"
    return f"DATE'{value}'" if name == "date" else f"TIMESTAMP'{value}'"


@pytest.mark.parametrize("number", range(TABLES))
def test_a_table_holds_what_the_dicts_say(tmp_path: Path, seed: int, number: int) -> None:
    Hands(tmp_path, random.Random(f"{seed}, {number}")).go()
