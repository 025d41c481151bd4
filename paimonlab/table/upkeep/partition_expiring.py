"""Expiry of partitions: until no other commit interferes."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from itertools import count

from paimonlab import clock
from paimonlab.maintenance import partition_expiry
from paimonlab.maintenance.partition_expiry import (
    PartitionExpireOptions,
    PartitionExpiry,
    PartitionExpiryRequest,
)
from paimonlab.spec.options.table_options import check_supported
from paimonlab.table.committing.committers import plain_committer_of
from paimonlab.table.committing.rounds import until_undisturbed
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.history import history_of


def expire_partitions(
    definition: TableDefinition,
    store: TableStore,
    request: PartitionExpiryRequest,
    *,
    user: str,
    now: datetime | None = None,
) -> PartitionExpiry:
    """Drop the partitions that are too old; see `Maintenance.expire_partitions`.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    request
        What is too old.
    user
        Who commits; a user that was never used before.
    now
        Local, without a zone; None: the clock's.
    """
    definition = definition.with_options(request.options)
    check_supported(definition.options, definition.schema, "write")
    if definition.options.slice(PartitionExpireOptions).expiration_millis is None:
        raise ValueError("give expiration_time: how old partitions may become")
    history = history_of(definition, store)
    committer = plain_committer_of(definition.options, store)
    now = now or clock.local_now()
    # Each commit has a user of its own, also after a conflict: what one did is not done again.
    users = (f"{user}-{number}" if number else user for number in count())
    return until_undisturbed(
        definition.name,
        lambda: partition_expiry.expire_partitions(
            history, request, committer, partial(next, users), now=now
        ),
        what="expiring partitions",
    )
