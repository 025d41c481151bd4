"""File formats: Parquet data files and Avro manifests, as bytes and as Arrow.

Answers: Arrow tables <-> files, and which parts of a file can be skipped. Knows types and
stores. Must not know: schema ids, keys, buckets, snapshots. All damage is a typed error that
names the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.formats import deletion_vectors as deletion_vectors

__getattr__, __dir__ = attributes_on_use(__name__, "deletion_vectors")
