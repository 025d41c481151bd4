"""Data that comes in by itself: changes of other systems become rows of tables, exactly once.

Answers which tables a source becomes (a pure plan), when what was read is committed (epochs), and
how far a job came. Sources, decoders of messages and jobs know nothing of notebooks or Spark;
``import paimonlab.ingest`` loads neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.ingest import job as job
    from paimonlab.ingest.changes import (
        Boundary,
        Event,
        Held,
        HoldingSource,
        JsonValue,
        MetadataSource,
        PartitionedSource,
        Phase,
        RereadableSource,
        RowChanges,
        SizedSource,
        Source,
        SourceColumn,
        SourceSchema,
        SourceSchemaChange,
        Truncated,
        Unreadable,
        Waits,
        WideningSource,
    )
    from paimonlab.ingest.dropping import DroppedJob
    from paimonlab.ingest.event_log import JobEvent
    from paimonlab.ingest.job import Job, NotedJob, drop_noted, ingest, noted_jobs
    from paimonlab.ingest.job_files import job_from_file
    from paimonlab.ingest.plan import IngestPlan, PlannedTable
    from paimonlab.ingest.replaying import DeadLetter, Replayed
    from paimonlab.ingest.source_contract import check_source
    from paimonlab.ingest.sources.batches import batches
    from paimonlab.ingest.sources.files import files
    from paimonlab.ingest.sources.tables import table_changes
    from paimonlab.ingest.statements import (
        NamedSource,
        forget_source,
        name_source,
        named_sources,
    )
    from paimonlab.ingest.status import JobStatus, TableStatus, prometheus_text

__all__ = [
    "Boundary",
    "DeadLetter",
    "DroppedJob",
    "Event",
    "Held",
    "HoldingSource",
    "IngestPlan",
    "Job",
    "JobEvent",
    "JobStatus",
    "JsonValue",
    "MetadataSource",
    "NamedSource",
    "NotedJob",
    "PartitionedSource",
    "Phase",
    "PlannedTable",
    "Replayed",
    "RereadableSource",
    "RowChanges",
    "SizedSource",
    "Source",
    "SourceColumn",
    "SourceSchema",
    "SourceSchemaChange",
    "TableStatus",
    "Truncated",
    "Unreadable",
    "Waits",
    "WideningSource",
    "batches",
    "check_source",
    "drop_noted",
    "files",
    "forget_source",
    "ingest",
    "job_from_file",
    "name_source",
    "named_sources",
    "noted_jobs",
    "prometheus_text",
    "table_changes",
]

__getattr__, __dir__ = attributes_on_use(
    __name__,
    "job",
    Boundary="changes",
    DeadLetter="replaying",
    DroppedJob="dropping",
    Event="changes",
    Held="changes",
    HoldingSource="changes",
    IngestPlan="plan",
    Job="job",
    JobEvent="event_log",
    JobStatus="status",
    JsonValue="changes",
    MetadataSource="changes",
    NamedSource="statements",
    NotedJob="job",
    PartitionedSource="changes",
    Phase="changes",
    PlannedTable="plan",
    Replayed="replaying",
    RereadableSource="changes",
    RowChanges="changes",
    SizedSource="changes",
    Source="changes",
    SourceColumn="changes",
    SourceSchema="changes",
    SourceSchemaChange="changes",
    TableStatus="status",
    Truncated="changes",
    Unreadable="changes",
    Waits="changes",
    WideningSource="changes",
    batches="sources.batches",
    check_source="source_contract",
    drop_noted="job",
    files="sources.files",
    forget_source="statements",
    ingest="job",
    job_from_file="job_files",
    name_source="statements",
    named_sources="statements",
    noted_jobs="job",
    prometheus_text="status",
    table_changes="sources.tables",
)
