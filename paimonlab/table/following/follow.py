"""From what a user asks for to a follower."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from paimonlab.metadata.consumers import ConsumerManager
from paimonlab.scan.following import FollowRules, Position
from paimonlab.secrets import hides_secrets
from paimonlab.spec.options.table_options import Options
from paimonlab.table.definition import TableDefinition
from paimonlab.table.following.follower import Follower
from paimonlab.table.following.options import FollowOptions, check_followable, first_level, rules_of
from paimonlab.table.following.progress import ConsumerProgress
from paimonlab.table.following.source import ChangeSource
from paimonlab.table.following.start import starting_position
from paimonlab.table.following.waiting import Clock
from paimonlab.table.reading.conditions import Where, resolved
from paimonlab.table.reading.query import with_read_options
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.consumers import ConsumerOptions

Start: TypeAlias = Position | int | str | datetime
"""A position, a snapshot id, a scan mode, or a time."""
Until: TypeAlias = int | str | datetime | None
"""A snapshot id, ``latest`` or the name of a tag, a time; None: for ever."""

_REFRESHES = 4
"""How often the file of a consumer is written anew in the time in which it would expire."""


@hides_secrets
@dataclass(frozen=True, slots=True, kw_only=True)
class FollowRequest:
    """What a follower is asked for; see `Table.follow`."""

    start: Start = "latest-full"
    until: Until = None
    consumer_id: str | None = None
    columns: Sequence[str] | None = None
    where: Where | None = None
    options: Mapping[str, str] = field(default_factory=dict)


def follow(
    definition: TableDefinition,
    store: TableStore,
    request: FollowRequest,
    *,
    clock: Clock | None = None,
) -> Follower:
    """Prepare following; see `Table.follow`.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    request
        What is asked for.
    clock
        None: that of this machine.
    """
    definition, store = with_read_options(definition, store, request.options)
    check_followable(definition)
    options = definition.options.slice(FollowOptions)
    rules = rules_of(definition, store, request.until)
    position = first_position(definition, store, request)
    if position.is_full and rules.until_id is not None and position.snapshot_id > rules.until_id:
        raise ValueError(
            f"{definition.name}: it would start with all rows of snapshot {position.snapshot_id}, "
            f"which is after until = {request.until!r}"
        )
    return Follower(
        change_source(definition, store, request, rules),
        position,
        poll_millis=options.poll_millis,
        progress=progress_of(definition, store, request),
        clock=clock,
    )


def first_position(
    definition: TableDefinition, store: TableStore, request: FollowRequest
) -> Position:
    """Find where following starts: where a consumer came to, or where the request says.

    Parameters
    ----------
    definition, store
        Of the table, with the options of the request.
    request
        What is asked for.
    """
    options = definition.options.slice(FollowOptions)
    consumer = _consumer(request, options)
    return starting_position(
        definition,
        store,
        request.start,
        request.options,
        consumer=None if options.ignores_progress else consumer,
    )


def change_source(
    definition: TableDefinition, store: TableStore, request: FollowRequest, rules: FollowRules
) -> ChangeSource:
    """Prepare looking at a table; parameters as in `first_position`."""
    columns, schema, predicate = resolved(
        request.columns, request.where, definition.schema, definition.options, definition.name
    )
    return ChangeSource(
        definition=definition,
        store=store,
        schema=schema,
        columns=columns,
        predicate=predicate,
        rules=rules,
        min_level=first_level(definition.options),
    )


def progress_of(
    definition: TableDefinition, store: TableStore, request: FollowRequest
) -> ConsumerProgress | None:
    """Return what keeps the progress of the consumer, if one is named; parameters as above."""
    consumer = _consumer(request, definition.options.slice(FollowOptions))
    return None if consumer is None else _progress(definition.options, store.consumers, consumer)


def _consumer(request: FollowRequest, options: FollowOptions) -> str | None:
    given = request.consumer_id
    if given is None:
        given = options.consumer_id
    if given is not None and not given.strip():
        raise ValueError("consumer_id must not be blank")
    return given


def _progress(options: Options, consumers: ConsumerManager, consumer: str) -> ConsumerProgress:
    expiration = options.slice(ConsumerOptions).expiration_millis
    refresh = None if expiration is None else expiration // _REFRESHES
    return ConsumerProgress(consumers, consumer, refresh)
