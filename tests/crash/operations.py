"""What may be interrupted: one entry each in `OPERATIONS`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

import paimonlab as pl
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import AlreadyExistsError, TableNotFoundError
from paimonlab.table.table import Table
from tests.crash.harness import TABLE, Operation, State, aged

_USER, _IDENTIFIER = "job", 7


def _rows(keys: Sequence[int], value: str, partition: str = "a") -> pa.Table:
    count = len(keys)
    return pa.table(
        {"p": [partition] * count, "k": pa.array(keys, pa.int32()), "v": [value] * count}
    )


def _table(catalog: pl.Catalog, name: str = TABLE) -> Table:
    found = catalog.table(name)
    assert isinstance(found, Table)
    return found


def _make(catalog: pl.Catalog, keys: Sequence[str] = (), **options: str) -> Table:
    catalog.create_database("db")
    options = {"write-only": "true"} | {
        key.replace("__", ".").replace("_", "-"): value for key, value in options.items()
    }
    return catalog.create_table(
        TABLE,
        {"p": "STRING", "k": "INT", "v": "STRING"},
        primary_keys=keys,
        partition_keys=["p"],
        options=options,
    )


def _fill(table: Table) -> None:
    table.write(_rows([1, 2, 3], "x"))
    table.write(_rows([4], "x", "b"))
    table.tags.create("old")
    table.write(_rows([5], "y"))


def _append_table(catalog: pl.Catalog) -> None:
    _fill(_make(catalog, manifest__merge_min_count="2"))


def _vector_table(catalog: pl.Catalog) -> None:
    table = _make(catalog, deletion_vectors__enabled="true")
    _fill(table)
    table.delete("k = 2")


def _keyed_table(catalog: pl.Catalog, **options: str) -> None:
    _fill(_make(catalog, ["p", "k"], bucket="1", **options))


def _spilling_table(catalog: pl.Catalog) -> None:
    _keyed_table(catalog, write_buffer_size="1 b", changelog_producer="input")


def _dynamic_table(catalog: pl.Catalog) -> None:
    _fill(_make(catalog, ["p", "k"], bucket="-1"))


def _table_with_runs(catalog: pl.Catalog) -> None:
    _keyed_table(catalog, num_sorted_run__compaction_trigger="2")
    _table(catalog).write(_rows([1, 2], "z"))


def _table_with_lookups(catalog: pl.Catalog) -> None:
    _keyed_table(catalog, changelog_producer="lookup")
    _compact_fully(catalog)
    catalog.alter_table(TABLE, pl.SetOption("write-only", "false"))


def _compacting_table(catalog: pl.Catalog) -> None:
    _table_with_runs(catalog)
    catalog.alter_table(TABLE, pl.SetOption("write-only", "false"))


def _table_to_rescale(catalog: pl.Catalog) -> None:
    """Make a table with rows that nobody was told of yet."""
    options = {"file__format": "orc", "changelog_producer": "lookup"}
    table = _make(catalog, ["p", "k"], bucket="1", **options)
    table.write(_rows([1, 2, 3], "x"))
    table.compact()
    table.write(_rows([2, 4], "y"))


def _append_table_to_rescale(catalog: pl.Catalog) -> None:
    _fill(_make(catalog, bucket="1", bucket_key="k", file__format="avro"))


def _table_with_days(catalog: pl.Catalog) -> None:
    table = _make(catalog, ["p", "k"], bucket="1", partition__timestamp_formatter="yyyy-MM-dd")
    for number, day in enumerate(("2020-01-01", "2020-01-02", "9999-12-31")):
        table.write(_rows([number], "v", day))


def _table_with_junk(catalog: pl.Catalog) -> None:
    """Make files that a writer which died two days ago has left."""
    _table_with_history(catalog)
    for number in (20, 21):
        writer = _table(catalog).new_writer()
        writer.write(_rows([number], "lost"))
        writer.prepare_commit()
    aged(Path(catalog.path))


def _table_with_history(catalog: pl.Catalog) -> None:
    """Make five snapshots, tags of 1 (expired), 3 and 5, a branch from 3 with a commit."""
    table = _make(catalog, ["p", "k"], bucket="1")
    for number in range(1, 6):
        table.write(_rows([number], "v"))
    for number in (1, 3, 5):
        table.tags.create(f"t{number}", snapshot=number)
    table.branches.create("dev", tag="t3")
    table.on_branch("dev").write(_rows([9], "dev"))
    folder = Path(table.path) / "snapshot"
    (folder / "snapshot-1").unlink()
    (folder / "EARLIEST").write_text("2")


def _commit(catalog: pl.Catalog, *batches: pa.Table, **how: Any) -> None:
    """Write and commit under a user and an identifier that stay the same."""
    table = _table(catalog)
    writer = table.new_writer(_USER)
    for batch in batches:
        writer.write(batch)
    messages = writer.prepare_commit(_IDENTIFIER)
    table.commit(messages, user=_USER, identifier=_IDENTIFIER, **how)


def _append(catalog: pl.Catalog) -> None:
    _commit(catalog, _rows([6, 7], "new"), _rows([8], "new", "c"))


def _upsert(catalog: pl.Catalog) -> None:
    _commit(catalog, _rows([2, 6], "new"), _rows([2, 7], "newer"))


def _commit_overwrite(catalog: pl.Catalog) -> None:
    scope = OverwriteScope.partitions_with([{"p": pa.scalar("a")}])
    _commit(catalog, _rows([6, 7], "new"), overwrite=scope)


def _overwrite(catalog: pl.Catalog) -> None:
    _table(catalog).overwrite(_rows([6, 7], "new"))


def _truncate(catalog: pl.Catalog) -> None:
    _table(catalog).truncate()


def _drop_partition(catalog: pl.Catalog) -> None:
    _table(catalog).drop_partitions([{"p": "a"}])


def _delete(catalog: pl.Catalog) -> None:
    _table(catalog).delete("k IN (1, 5)")


def _update(catalog: pl.Catalog) -> None:
    _table(catalog).update({"v": "'set'"}, where="k = 1 OR k = 4")


def _compact_manifests(catalog: pl.Catalog) -> None:
    _table(catalog).compact_manifests()


def _analyze(catalog: pl.Catalog) -> None:
    _table(catalog).maintenance.analyze()


def _alter(catalog: pl.Catalog) -> None:
    if "more" not in _table(catalog).schema.field_names:
        catalog.alter_table(TABLE, pl.AddColumn("more", "INT"), pl.RenameColumn("v", "w"))


def _create_table(catalog: pl.Catalog) -> None:
    catalog.create_table("db.u", {"k": "INT"}, exist_ok=True)


def _drop_table(catalog: pl.Catalog) -> None:
    with contextlib.suppress(TableNotFoundError):
        catalog.drop_table(TABLE)


def _rename_table(catalog: pl.Catalog) -> None:
    with contextlib.suppress(TableNotFoundError):
        catalog.rename_table(TABLE, "db.u")


def _create_tag(catalog: pl.Catalog) -> None:
    with contextlib.suppress(AlreadyExistsError):
        _table(catalog).tags.create("new")


def _replace_tag(catalog: pl.Catalog) -> None:
    _table(catalog).tags.replace("old")


def _rename_tag(catalog: pl.Catalog) -> None:
    tags = _table(catalog).tags
    if "old" in tags.list():
        if "new" in tags.list():  # renaming was interrupted
            tags.delete("old")
        else:
            tags.rename("old", "new")


def _has_both_tags(state: State) -> bool:
    return state["db.t tag old"] == state["db.t tag new"]


def _delete_expired_tag(catalog: pl.Catalog) -> None:
    tags = _table(catalog).tags
    if "t1" in tags.list():
        tags.delete("t1")


def _create_branch(catalog: pl.Catalog) -> None:
    with contextlib.suppress(AlreadyExistsError):
        _table(catalog).branches.create("new", tag="t3")


def _delete_branch(catalog: pl.Catalog) -> None:
    branches = _table(catalog).branches
    if "dev" in branches.list():
        branches.delete("dev")


def _fast_forward(catalog: pl.Catalog) -> None:
    _table(catalog).branches.fast_forward("dev")


def _roll_back(catalog: pl.Catalog) -> None:
    _table(catalog).maintenance.rollback_to(snapshot=2)


def _roll_back_to_tag(catalog: pl.Catalog) -> None:
    _table(catalog).maintenance.rollback_to(tag="t1")


def _compact(catalog: pl.Catalog) -> None:
    _table(catalog).compact()


def _compact_fully(catalog: pl.Catalog) -> None:
    _table(catalog).compact(full=True)


def _expire(catalog: pl.Catalog) -> None:
    _table(catalog).maintenance.expire_snapshots(retain_max=1)


def _rescale(catalog: pl.Catalog) -> None:
    _table(catalog).maintenance.rescale(buckets=2)


def _expire_partitions(catalog: pl.Catalog) -> None:
    _table(catalog).maintenance.expire_partitions(timedelta(days=1), expire_strategy="values-time")


def _purge(catalog: pl.Catalog) -> None:
    _table(catalog).maintenance.purge_files()


def _is_being_purged(state: State) -> bool:
    """Whether what is there is as it was, or nothing is."""
    found = dict(state)
    now = found.pop("db.t now")
    given: dict[str, Any] = {f"db.t tag t{number}": _upto(number) for number in (1, 3, 5)}
    given |= {"db.t": ("p", "k", "v"), "db.t branch dev": [*_upto(3), ("a", 9, "dev")]}
    given |= {"db.t buckets": {1} if now else set()}
    return now in ([], _upto(5)) and all(given[what] == value for what, value in found.items())


def _remove_orphans(catalog: pl.Catalog) -> None:
    _table(catalog).maintenance.remove_orphan_files(dry_run=False)


def _upto(number: int) -> list[tuple[str, int, str]]:
    return [("a", key, "v") for key in range(1, number + 1)]


def _is_on_the_way_back(state: State) -> bool:
    """Whether the table is at one of its snapshots, and tags are as they were or gone."""
    tags: dict[str, Any] = {f"db.t tag t{number}": _upto(number) for number in (1, 3, 5)}
    others: dict[str, Any] = {
        "db.t branch dev": [*_upto(3), ("a", 9, "dev")],
        "db.t": ("p", "k", "v"),
        "db.t buckets": {1},
    }
    now = state["db.t now"]
    forward = others["db.t branch dev"]
    return now in [forward, *(_upto(number) for number in range(1, 6))] and all(
        value == (tags | others).get(what, value) for what, value in state.items()
    )


def _operation(name: str, setup: Any, act: Any, **how: Any) -> Operation:
    return Operation(name=name, setup=setup, act=act, **how)


_BOTH = {"tables": ("db.t", "db.u")}
_KEPT = {"leaves_data_files": True}
_STEPS = {"has_steps": True, "sparse": 3}
OPERATIONS: Sequence[Operation] = (
    _operation("append", _append_table, _append, **_KEPT),
    _operation("upsert with spill and changelog", _spilling_table, _upsert, **_KEPT),
    _operation("upsert into dynamic buckets", _dynamic_table, _upsert, **_KEPT),
    _operation("overwrite by commit", _append_table, _commit_overwrite, **_KEPT),
    _operation("overwrite dynamically", _keyed_table, _overwrite),
    _operation("overwrite with vectors", _vector_table, _overwrite),
    _operation("truncate", _dynamic_table, _truncate),
    _operation("drop a partition", _vector_table, _drop_partition),
    _operation("delete by vector", _vector_table, _delete),
    _operation("delete by rewriting", _append_table, _delete),
    _operation("delete by key", _keyed_table, _delete),
    _operation("update by vector", _vector_table, _update),
    _operation("update by rewriting", _append_table, _update),
    _operation("update by key", _keyed_table, _update),
    _operation("upsert and compact", _compacting_table, _upsert, **_KEPT),
    _operation("upsert with lookups", _table_with_lookups, _upsert, **_KEPT),
    _operation("compact files", _append_table, _compact_fully),
    _operation("compact files with vectors", _vector_table, _compact_fully),
    _operation("compact runs", _table_with_runs, _compact),
    _operation("compact all runs", _table_with_runs, _compact_fully),
    _operation("expire snapshots", _table_with_history, _expire),
    _operation("rescale", _table_to_rescale, _rescale, **_STEPS),
    _operation("rescale an append table", _append_table_to_rescale, _rescale, **_STEPS),
    _operation("expire partitions", _table_with_days, _expire_partitions),
    _operation("purge", _table_with_history, _purge, between=_is_being_purged, **_STEPS),
    _operation("remove orphans", _table_with_junk, _remove_orphans),
    _operation("compact manifests", _vector_table, _compact_manifests),
    _operation("analyze", _append_table, _analyze),
    _operation("alter", _append_table, _alter),
    _operation("create a table", _append_table, _create_table, **_BOTH),
    _operation("drop a table", _append_table, _drop_table),
    _operation("rename a table", _append_table, _rename_table, **_BOTH),
    _operation("create a tag", _append_table, _create_tag),
    _operation("replace a tag", _append_table, _replace_tag),
    _operation("rename a tag", _append_table, _rename_tag, between=_has_both_tags),
    _operation("delete a tag of an expired snapshot", _table_with_history, _delete_expired_tag),
    _operation("create a branch", _table_with_history, _create_branch),
    _operation("delete a branch", _table_with_history, _delete_branch),
    _operation("fast-forward", _table_with_history, _fast_forward, between=_is_on_the_way_back),
    _operation("roll back", _table_with_history, _roll_back, between=_is_on_the_way_back),
    _operation(
        "roll back to a tag", _table_with_history, _roll_back_to_tag, between=_is_on_the_way_back
    ),
)
