"""Every error paimonlab raises on purpose.

PaimonError
├── NotFoundError                   a named thing is missing            (also LookupError)
│   ├── DatabaseNotFoundError
│   ├── TableNotFoundError
│   ├── ViewNotFoundError
│   ├── FunctionNotFoundError
│   ├── ColumnNotFoundError
│   ├── SchemaNotFoundError
│   ├── SnapshotNotFoundError
│   │   ├── SnapshotExpiredError    it was there, expiry removed it
│   │   └── SnapshotReplacedError   it was there, a rollback removed it or put another in its place
│   ├── TagNotFoundError
│   ├── BranchNotFoundError
│   ├── ConsumerNotFoundError
│   └── ProcedureNotFoundError
├── ArgumentError                   wrong arguments of a procedure     (also ValueError)
├── AlreadyExistsError              a name is taken
├── ReadOnlyError                   the catalog was opened to read only
├── AccessDeniedError               the catalog's server refuses these credentials
├── SchemaError                     a definition that the format does not allow
├── DataError                       rows that the table does not accept
├── UnsupportedError                not implemented here              (also NotImplementedError)
├── CorruptError                    a file of the table is damaged
│   ├── CorruptMetadataError        a metadata file does not follow the format
│   └── CorruptDataError            a data file is missing, truncated or damaged
├── ForkedProcessError              begun in the process that this one was forked from
├── MemoryLimitError                a file takes more memory than there is (also MemoryError)
├── StorageError                    the disk or store failed            (also OSError)
│   ├── CatalogDatabaseError        the database of a catalog failed
│   ├── CatalogLockError            the lock of a table could not be taken: nothing was done
│   └── CatalogServerError          the server of a catalog failed or does not answer
├── SourceError                     what changes are read from fails, or lost some of them
├── PostCommitError                 the commit landed, later work failed
├── IngestError                     a job that reads changes into tables cannot go on
│   ├── IngestSchemaError           a table cannot have the columns that its source has
│   ├── IngestDataError             more rows than may be set aside cannot be stored
│   ├── IngestRunningError          another process runs the job
│   ├── IngestStalledError          a batch on Spark made no progress for too long
│   └── IngestStateError            what the job noted down does not go with tables or source
└── CommitError                     a commit did not happen; the table is as it was
    ├── SnapshotConflictError       lost the race for a snapshot id too often: try again
    ├── FilesConflictError          our inputs were changed meanwhile: start over
    ├── CommitRolledBackError       others rolled the table back to before it
    ├── OverwriteConflictError      another overwrite of a format table went ahead
    ├── CommitOutcomeUnknownError   it may have happened: look before doing it again
    └── CommitHistoryExpiredError   it is too late to tell whether it happened

``IngestInterrupted`` is a ``KeyboardInterrupt``: Ctrl-C ended a run of a job.
``PartialUpsertWarning`` is a warning: rows that lack columns replace rows that have them.
A wrong argument is a plain ``ValueError`` or ``TypeError``; an impossible state is an
``AssertionError``. Neither is caught anywhere in paimonlab.
"""

from __future__ import annotations

from paimonlab.errors.base import PaimonError, close_matches, without_database
from paimonlab.errors.commits import (
    CommitError,
    CommitHistoryExpiredError,
    CommitOutcomeUnknownError,
    CommitRolledBackError,
    FilesConflictError,
    OverwriteConflictError,
    PostCommitError,
    SnapshotConflictError,
)
from paimonlab.errors.damage import (
    CorruptDataError,
    CorruptError,
    CorruptMetadataError,
    ForkedProcessError,
    MemoryLimitError,
    StorageError,
)
from paimonlab.errors.databases import CatalogDatabaseError, CatalogLockError
from paimonlab.errors.ingesting import (
    IngestDataError,
    IngestError,
    IngestInterrupted,
    IngestRunningError,
    IngestSchemaError,
    IngestStalledError,
    IngestStateError,
)
from paimonlab.errors.not_found import (
    BranchNotFoundError,
    ColumnNotFoundError,
    ConsumerNotFoundError,
    DatabaseNotFoundError,
    FunctionNotFoundError,
    NotFoundError,
    ProcedureNotFoundError,
    SchemaNotFoundError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
    SnapshotReplacedError,
    TableNotFoundError,
    TagNotFoundError,
    ViewNotFoundError,
)
from paimonlab.errors.refused import (
    AlreadyExistsError,
    ArgumentError,
    DataError,
    PartialUpsertWarning,
    ReadOnlyError,
    SchemaError,
    UnsupportedError,
)
from paimonlab.errors.servers import AccessDeniedError, CatalogServerError
from paimonlab.errors.sources import SourceError

__all__ = [
    "AccessDeniedError",
    "AlreadyExistsError",
    "ArgumentError",
    "BranchNotFoundError",
    "CatalogDatabaseError",
    "CatalogLockError",
    "CatalogServerError",
    "ColumnNotFoundError",
    "CommitError",
    "CommitHistoryExpiredError",
    "CommitOutcomeUnknownError",
    "CommitRolledBackError",
    "ConsumerNotFoundError",
    "CorruptDataError",
    "CorruptError",
    "CorruptMetadataError",
    "DataError",
    "DatabaseNotFoundError",
    "FilesConflictError",
    "ForkedProcessError",
    "FunctionNotFoundError",
    "IngestDataError",
    "IngestError",
    "IngestInterrupted",
    "IngestRunningError",
    "IngestSchemaError",
    "IngestStalledError",
    "IngestStateError",
    "MemoryLimitError",
    "NotFoundError",
    "OverwriteConflictError",
    "PaimonError",
    "PartialUpsertWarning",
    "PostCommitError",
    "ProcedureNotFoundError",
    "ReadOnlyError",
    "SchemaError",
    "SchemaNotFoundError",
    "SnapshotConflictError",
    "SnapshotExpiredError",
    "SnapshotNotFoundError",
    "SnapshotReplacedError",
    "SourceError",
    "StorageError",
    "TableNotFoundError",
    "TagNotFoundError",
    "UnsupportedError",
    "ViewNotFoundError",
    "close_matches",
    "without_database",
]

for _name in __all__:  # where users import them from, and what messages show
    globals()[_name].__module__ = __name__
