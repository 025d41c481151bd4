"""Procedures about tags.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.CreateTagProcedure``,
``ReplaceTagProcedure``, ``RenameTagProcedure``, ``DeleteTagProcedure``, ``ExpireTagsProcedure``,
``CreateTagFromTimestampProcedure``, ``TriggerTagAutomaticCreationProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from paimonlab.errors import ArgumentError, SnapshotNotFoundError
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.tag_creation import TagRequest, create_tag, replace_tag
from paimonlab.maintenance.tag_expiry import TagExpiryRequest, expire_tags
from paimonlab.procedures.declare import DONE, RESULT, TABLE, columns, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table
from paimonlab.table.upkeep.history import history_of
from paimonlab.table.upkeep.tags import Tags

_DEFAULT_LIFE = "tag.default-time-retained"
_TAG = required("tag", "STRING", "The name of the tag.")
_LIFE = optional("time_retained", "STRING", "How long it is kept, as in 1 d; none: for ever.")
_OF_SNAPSHOT = (
    TABLE,
    _TAG,
    optional("snapshot", "BIGINT", "The id of a snapshot; none: the latest."),
    _LIFE,
)


def _create_tag(call: Invocation) -> Sequence[Row]:
    history = _history(call.table())
    tag = create_tag(history, _request(call))
    call.note(f"{history.name}: created tag {call.text('tag')} of snapshot {tag.id:,}")
    return DONE


def _replace_tag(call: Invocation) -> Sequence[Row]:
    history = _history(call.table())
    tag = replace_tag(history, _request(call))
    call.note(f"{history.name}: tag {call.text('tag')} is of snapshot {tag.id:,}")
    return DONE


def _request(call: Invocation) -> TagRequest:
    return TagRequest(
        name=call.required_text("tag"),
        snapshot=call.number("snapshot"),
        time_retained=call.duration("time_retained"),
    )


def _rename_tag(call: Invocation) -> Sequence[Row]:
    table = call.table()
    name, target = call.required_text("tag"), call.required_text("target_tag")
    table.tags.rename(name, target)
    call.note(f"{table.name}: tag {name} is now {target}")
    return DONE


def _create_tag_from_timestamp(call: Invocation) -> Sequence[Row]:
    name, millis = call.required_text("tag"), call.number("timestamp")
    if millis is None:
        raise ArgumentError(call.procedure, "needs timestamp, in milliseconds since 1970")
    table = call.table()
    snapshot = _first_at_or_after(table, millis)
    request = TagRequest(
        name=name, snapshot=snapshot.id, time_retained=call.duration("time_retained")
    )
    create_tag(_history(table), request)
    call.note(f"{table.name}: created tag {name} of snapshot {snapshot.id:,}")
    watermark = "null" if snapshot.watermark is None else str(snapshot.watermark)
    return ((name, snapshot.id, snapshot.time_millis, watermark),)


def _first_at_or_after(table: Table, millis: int) -> Snapshot:
    """Find the first snapshot, kept by itself or by a tag, that was committed by then or later."""
    tagged = [tag.to_snapshot() for tag in table.tags.list().values()]
    later = [
        snapshot
        for snapshot in (*table.snapshots.list(), *tagged)
        if snapshot.time_millis >= millis
    ]
    if not later:
        raise SnapshotNotFoundError(table.name, f"committed at {millis} or later")
    return min(later, key=lambda snapshot: (snapshot.time_millis, snapshot.id))


def _delete_tag(call: Invocation) -> Sequence[Row]:
    tags = call.table().tags
    names = [name.strip() for name in call.required_text("tag").split(",")]
    if not all(names):
        raise ArgumentError(call.procedure, "tag has a blank name between commas")
    tags_by_name = tags.list()
    existing = [name for name in dict.fromkeys(names) if name in tags_by_name]
    if call.is_dry_run:
        _plan_deletions(call, tags, existing)
    else:
        for name in dict.fromkeys(names):
            gone = tags.delete(name) if name in existing else f"there is no tag {name}"
            call.note(gone)
    return DONE


def _expire_tags(call: Invocation) -> Sequence[Row]:
    table = call.table()
    request = TagExpiryRequest(older_than=call.time("older_than"), dry_run=call.is_dry_run)
    names = expire_tags(history_of(definition_of(table), store_of(table)), request)
    if call.is_dry_run:
        _plan_deletions(call, table.tags, names)
    return [(name,) for name in names] or (("No expired tags.",),)


def _plan_deletions(call: Invocation, tags: Tags, names: Sequence[str]) -> None:
    """Note what deleting tags one after the other deletes: the last of a file's tags takes it."""
    for number, name in enumerate(names):
        call.note(tags.delete(name, dry_run=True, after=names[:number]))


def _trigger(call: Invocation) -> Sequence[Row]:
    table = call.table()
    names = table.tags.create_due()
    created = f"created {', '.join(names)}" if names else "no tag is due"
    call.note(f"{table.name}: {created}")
    return DONE


def _history(table: Table) -> TableHistory:
    """Return the history of a table; new tags are kept for ever unless a call says how long.

    The default of the table is for tags that Paimon creates by itself.
    """
    definition = definition_of(table)
    kept = {key: value for key, value in definition.options.items() if key != _DEFAULT_LIFE}
    return history_of(replace(definition, options=Options(kept)), store_of(table))


TAG_PROCEDURES = (
    Procedure(
        name="create_tag",
        parameters=_OF_SNAPSHOT,
        result=RESULT,
        description="Give a snapshot a name, which keeps it.",
        rows=_create_tag,
    ),
    Procedure(
        name="replace_tag",
        parameters=_OF_SNAPSHOT,
        result=RESULT,
        description="Let a tag refer to another snapshot, or be kept for another time.",
        rows=_replace_tag,
    ),
    Procedure(
        name="rename_tag",
        parameters=(TABLE, _TAG, required("target_tag", "STRING", "Its new name.")),
        result=RESULT,
        description="Give a tag another name.",
        rows=_rename_tag,
    ),
    Procedure(
        name="create_tag_from_timestamp",
        parameters=(
            TABLE,
            _TAG,
            optional(
                "timestamp",
                "BIGINT",
                "Milliseconds since 1970: the first snapshot committed then or later.",
            ),
            _LIFE,
        ),
        result=columns(
            tagName="STRING", snapshot="BIGINT", commit_time="BIGINT", watermark="STRING"
        ),
        description="Give the first snapshot at or after a time a name, which keeps it.",
        rows=_create_tag_from_timestamp,
    ),
    Procedure(
        name="delete_tag",
        parameters=(TABLE, required("tag", "STRING", "Names, separated by commas.")),
        result=RESULT,
        description="Delete tags, and the files that only they kept.",
        rows=_delete_tag,
        has_plan=True,
    ),
    Procedure(
        name="expire_tags",
        parameters=(
            TABLE,
            optional("older_than", "STRING", "Local time: older tags are deleted as well."),
        ),
        result=columns(expired_tags="STRING NOT NULL"),
        description="Delete the tags whose time has passed.",
        rows=_expire_tags,
        has_plan=True,
    ),
    Procedure(
        name="trigger_tag_automatic_creation",
        parameters=(TABLE,),
        result=RESULT,
        description="Create the tags that tag.automatic-creation asks for by now.",
        rows=_trigger,
    ),
)
