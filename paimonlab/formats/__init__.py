"""File formats: Parquet data files and Avro manifests, as bytes and as Arrow.

Answers: Arrow tables <-> files, and which parts of a file can be skipped. Knows types and
stores. Must not know: schema ids, keys, buckets, snapshots. All damage is a typed error that
names the file.
"""
