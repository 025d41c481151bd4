"""Whether a write is followed by compaction, decided before what compacts is loaded."""

from __future__ import annotations

from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.table.definition import TableDefinition
from paimonlab.write.write_plan import WritePlan, WriterCompactionOptions


def compacts(definition: TableDefinition, plan: WritePlan) -> bool:
    """Whether writers of a table compact the buckets that they write to.

    They do not if it has no key (see `compacts_appended`), if they are told not to
    (``write-only``), or if rows wait for their buckets.
    """
    options = definition.options.slice(WriterCompactionOptions)
    has_buckets = plan.bucket_mode is not BucketMode.POSTPONE_MODE
    return bool(definition.schema.primary_keys) and has_buckets and not options.write_only


def compacts_appended(definition: TableDefinition) -> bool:
    """Return whether buckets of an append table are compacted by those who write to them."""
    is_append = not definition.schema.primary_keys
    if not is_append or definition.options.slice(WriterCompactionOptions).write_only:
        return False
    return definition.bucket_mode is BucketMode.HASH_FIXED
