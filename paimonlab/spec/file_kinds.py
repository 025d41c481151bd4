"""Kinds of files, by their names, and which names never come again.

Source: apache/paimon@5dacde5 ``org.apache.paimon.utils.FileType``.
"""

from __future__ import annotations

import re

META, DATA = "meta", "data"
BUCKET_INDEX, GLOBAL_INDEX, FILE_INDEX = "bucket-index", "global-index", "file-index"
FILE_KINDS = (META, GLOBAL_INDEX, BUCKET_INDEX, DATA, FILE_INDEX)
_UNIQUE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REUSED = ("snapshot-", "schema-", "tag-", "consumer-", "service-", "changelog-")
_EXTENSIONS = (".parquet", ".orc", ".avro")


def lasting_kind(path: str) -> str | None:
    """Return the kind of a file whose name is given once; None: another may get its name.

    Names of snapshots, schemas and tags come again when a table is created anew or rolled back.

    Examples
    --------
    >>> unique = "0f8fad5b-d9cb-469f-a165-70867728950e"
    >>> lasting_kind(f"w/db.db/t/manifest/manifest-{unique}-0"), lasting_kind("t/snapshot/LATEST")
    ('meta', None)
    >>> lasting_kind(f"t/bucket-0/data-{unique}-0.parquet"), lasting_kind("t/snapshot/snapshot-1")
    ('data', None)
    >>> lasting_kind(f"t/index/index-{unique}-0"), lasting_kind(f"i/global-index-{unique}.index")
    ('bucket-index', 'global-index')
    """
    name = path.rpartition("/")[2]
    is_draft = name.startswith((".", "_")) or name.endswith(".tmp")
    if is_draft or not _UNIQUE.search(name):
        return None
    if name.endswith(_EXTENSIONS):
        return DATA
    if name.endswith(".index"):
        return GLOBAL_INDEX if "global-index-" in name else FILE_INDEX
    if name.startswith(_REUSED):
        return None
    if "manifest" in name or name.startswith("stat-"):
        return META
    return BUCKET_INDEX if name.startswith("index-") else None
