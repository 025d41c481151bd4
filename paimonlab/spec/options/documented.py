"""The table of all options that Paimon documents, and what paimonlab does with them.

Those that are accepted without an effect are in `accepted`.

A line is: key, kind, default (``-``: none), for an enumeration its values. ``*`` in a key stands
for a name. Of the implemented enumerations the values marked ``*`` are built.

Source: the generated option tables of the documentation of apache/paimon@5dacde5, and
``org.apache.paimon.CoreOptions`` for those the documentation leaves out, of 1.3.1 and 1.4.2, too.
``write.isolation`` is known to paimonlab alone.
"""

from __future__ import annotations

IMPLEMENTED = """
add-column-before-partition  boolean  false
aggregation.remove-record-on-delete  boolean  false
alter-column-null-to-not-null.disabled  boolean  true
branch  string  main
bucket  int  -1
bucket-function.type  enum  default  default|mod|hive
bucket-key  string  -
changelog-file.compression  string  -
changelog-file.format  enum  -  parquet*|orc*|avro*|csv|json|text|lance|vortex|mosaic|row|blob
changelog-file.prefix  string  changelog-
changelog-file.stats-mode  string  -
changelog-producer  enum  none  none*|input*|full-compaction*|lookup*
changelog-producer.row-deduplicate  boolean  false
changelog-producer.row-deduplicate-ignore-fields  string  -
changelog.num-retained.max  int  -
changelog.num-retained.min  int  -
changelog.time-retained  duration  -
clustering.columns  string  -
clustering.incremental  boolean  false
clustering.strategy  string  auto
commit.discard-duplicate-files  boolean  false
commit.force-compact  boolean  false
commit.force-create-snapshot  boolean  false
commit.max-retries  int  10
commit.max-retry-wait  duration  10 s
commit.min-retry-wait  duration  10 ms
commit.strict-mode.last-safe-snapshot  long  -
commit.timeout  duration  -
commit.user-prefix  string  -
compaction.delete-ratio-threshold  float  0.2
compaction.force-rewrite-all-files  boolean  false
compaction.force-up-level-0  boolean  false
compaction.incremental-size-threshold  memory  -
compaction.max-size-amplification-percent  int  200
compaction.min.file-num  int  5
compaction.offpeak-ratio  int  0
compaction.offpeak.end.hour  int  -1
compaction.offpeak.start.hour  int  -1
compaction.optimization-interval  duration  -
compaction.size-ratio  int  1
compaction.small-file-ratio  float  0.7
compaction.total-size-threshold  memory  -
consumer-id  string  -
consumer.expiration-time  duration  -
consumer.ignore-progress  boolean  false
consumer.mode  enum  exactly-once  exactly-once*|at-least-once*
continuous.discovery-interval  duration  10 s
cross-partition-upsert.bootstrap-parallelism  int  10
data-evolution.enabled  boolean  false
data-file.external-paths  string  -
data-file.external-paths.specific-fs  string  -
data-file.external-paths.strategy  enum  none  none*|specific-fs*|round-robin*|entropy-inject*|weight-robin*
data-file.external-paths.weights  string  -
data-file.path-directory  string  -
data-file.prefix  string  data-
data-file.thin-mode  boolean  false
delete.force-produce-changelog  boolean  false
deletion-vector.index-file.target-size  memory  2 mb
deletion-vectors.bitmap64  boolean  false
deletion-vectors.enabled  boolean  false
deletion-vectors.merge-on-read  boolean  false
deletion-vectors.modifiable  boolean  false
disable-explicit-type-casting  boolean  false
dynamic-bucket.assigner-parallelism  int  -
dynamic-bucket.initial-buckets  int  -
dynamic-bucket.max-buckets  int  -1
dynamic-bucket.target-row-num  long  2000000
dynamic-partition-overwrite  boolean  true
end-input.check-partition-expire  boolean  false
fields.*.aggregate-function  enum  -  collect*|bool_and*|bool_or*|first_non_null_value*|first_not_null_value*|first_value*|hll_sketch*|last_non_null_value*|last_value*|listagg*|max*|merge_map*|merge_map_with_keytime|min*|nested_partial_update|nested_update*|product*|rbm32*|rbm64*|sum*|theta_sketch*
fields.*.count-limit  int  -
fields.*.distinct  boolean  false
fields.*.ignore-retract  boolean  false
fields.*.list-agg-delimiter  string  ,
fields.*.nested-key  string  -
fields.*.sequence-group  string  -
fields.*.stats-mode  string  -
fields.default-aggregate-function  enum  -  collect*|bool_and*|bool_or*|first_non_null_value*|first_not_null_value*|first_value*|hll_sketch*|last_non_null_value*|last_value*|listagg*|max*|merge_map*|merge_map_with_keytime|min*|nested_partial_update|nested_update*|product*|rbm32*|rbm64*|sum*|theta_sketch*
file-index.*  string  -
file-index.in-manifest-threshold  memory  500 bytes
file-index.read.enabled  boolean  true
file-operation.thread-num  int  -
file.block-size  memory  -
file.compression  enum  zstd  zstd*|snappy*|gzip*|lz4*|lz4_raw*|uncompressed*|none*|null*|lzo|brotli|zlib*|deflate*|bzip2*|xz*|zstandard*
file.compression.per.level  map  -
file.compression.zstd-level  int  1
file.format  enum  parquet  parquet*|orc*|avro*|csv|json|text|lance|vortex|mosaic|row|blob
file.format.per.level  map  -
file.suffix.include.compression  boolean  false
force-lookup  boolean  false
full-compaction.delta-commits  int  -
ignore-delete  boolean  false
ignore-update-before  boolean  false
incremental-between  string  -
incremental-between-scan-mode  enum  auto  auto*|delta*|changelog*|diff*
incremental-between-tag-to-snapshot  boolean  false
incremental-between-timestamp  string  -
incremental-to-auto-tag  string  -
index-file-in-data-file-dir  boolean  false
lookup-compact  enum  RADICAL  RADICAL*|GENTLE*
lookup-compact.max-interval  int  -
lookup.cache-file-retention  duration  1 h
lookup.cache-max-disk-size  memory  infinite
lookup.cache-max-memory-size  memory  256 mb
lookup.cache-spill-compression  enum  -  none*|lz4*|zstd*|lzo
lookup.cache.bloom.filter.enabled  boolean  true
lookup.cache.bloom.filter.fpp  float  0.05
manifest.compression  enum  zstd  zstd*|null*|zstandard|none|snappy|deflate|bzip2|xz
manifest.delete-file-drop-stats  boolean  false
manifest.format  enum  avro  avro*|orc*|parquet*
manifest.full-compaction-threshold-size  memory  16 mb
manifest.merge-min-count  int  30
manifest.target-file-size  memory  8 mb
merge-engine  enum  deduplicate  deduplicate*|partial-update*|aggregation*|first-row*
metadata.iceberg.compaction.max.file-num  int  50
metadata.iceberg.compaction.min.file-num  int  10
metadata.iceberg.database  string  -
metadata.iceberg.delete-after-commit.enabled  boolean  true
metadata.iceberg.format-version  int  2
metadata.iceberg.glue.skip-archive  boolean  false
metadata.iceberg.hive-conf-dir  string  -
metadata.iceberg.hive-skip-update-stats  boolean  false
metadata.iceberg.manifest-compression  string  snappy
metadata.iceberg.manifest-legacy-version  boolean  false
metadata.iceberg.previous-versions-max  int  0
metadata.iceberg.rest.*  string  -
metadata.iceberg.storage  enum  disabled  disabled*|table-location*|hadoop-catalog*|hive-catalog*|rest-catalog*
metadata.iceberg.storage-location  enum  -  table-location|catalog-location
metadata.iceberg.table  string  -
metadata.iceberg.uri  string  -
metadata.stats-dense-store  boolean  true
metadata.stats-keep-first-n-columns  int  -1
metadata.stats-mode  string  truncate(16)
metadata.stats-mode.per.level  map  -
num-levels  int  -
num-sorted-run.compaction-trigger  int  5
num-sorted-run.stop-trigger  int  -
orc.bloom.filter.columns  list  -
orc.bloom.filter.fpp  float  -
orc.compress  string  -
orc.compress.size  int  -
orc.dictionary.key.threshold  float  -
orc.row.index.stride  int  -
orc.stripe.size  int  -
orc.timestamp-ltz.legacy.type  boolean  true
parquet.block.size  long  134217728
parquet.compression  string  -
parquet.compression.codec.zstd.level  int  -
parquet.dictionary.page.size  int  1048576
parquet.enable.dictionary  boolean  -
parquet.enable.dictionary#*  boolean  -
parquet.page.row.count.limit  int  -
parquet.page.size  int  1048576
partial-update.remove-record-on-delete  boolean  false
partial-update.remove-record-on-sequence-group  string  -
partition  string  -
partition.default-name  string  __DEFAULT_PARTITION__
partition.end-input-to-done  boolean  false
partition.expiration-batch-size  int  -
partition.expiration-check-interval  duration  1 h
partition.expiration-max-num  int  100
partition.expiration-strategy  enum  values-time  values-time*|update-time*|custom
partition.expiration-time  duration  -
partition.legacy-name  boolean  true
partition.mark-done-action  string  success-file
partition.sink-strategy  enum  NONE  NONE*|HASH*|PARTITION_DYNAMIC*
partition.timestamp-formatter  string  -
partition.timestamp-pattern  string  -
postpone.default-bucket-num  int  1
primary-key  string  -
read.stream.maxBytesPerTrigger  long  -
read.stream.maxFilesPerTrigger  int  -
read.stream.maxRowsPerTrigger  long  -
read.stream.maxTriggerDelayMs  long  -
read.stream.minRowsPerTrigger  long  -
record-level.expire-time  duration  -
record-level.time-field  string  -
row-tracking.enabled  boolean  false
rowkind.field  string  -
scan.bounded.watermark  long  -
scan.creation-time-millis  long  -
scan.fallback-branch  string  -
scan.file-creation-time-millis  long  -
scan.ignore-corrupt-files  boolean  false
scan.ignore-lost-files  boolean  false
scan.mode  enum  default  default*|from-timestamp*|from-snapshot*|latest-full*|full*|latest*|latest-delta|compacted-full*|from-creation-timestamp*|from-file-creation-time*|from-snapshot-full*|incremental*
scan.snapshot-id  long  -
scan.tag-name  string  -
scan.timestamp  string  -
scan.timestamp-millis  long  -
scan.version  string  -
scan.watermark  long  -
sequence.field  string  -
sequence.field.sort-order  enum  ascending  ascending*|descending*
sink.process-time-zone  string  -
sink.watermark-time-zone  string  UTC
snapshot.clean-empty-directories  boolean  false
snapshot.expire.execution-mode  enum  sync  sync*|async*
snapshot.expire.limit  int  50
snapshot.ignore-empty-commit  boolean  -
snapshot.num-retained.max  int  infinite
snapshot.num-retained.min  int  10
snapshot.time-retained  duration  1 h
source.split.open-file-cost  memory  4 mb
source.split.target-size  memory  128 mb
streaming-read-append-overwrite  boolean  false
streaming-read-overwrite  boolean  false
streaming.read.snapshot.delay  duration  -
tag.automatic-completion  boolean  false
tag.automatic-creation  enum  none  none*|process-time*|watermark*|batch*
tag.batch.customized-name  string  -
tag.create-success-file  boolean  false
tag.creation-delay  duration  0 ms
tag.creation-period  enum  daily  daily*|hourly*|two-hours*
tag.creation-period-duration  duration  -
tag.default-time-retained  duration  -
tag.num-retained-max  int  -
tag.period-formatter  enum  with_dashes  with_dashes*|without_dashes*|without_dashes_and_spaces*
tag.time-expire-enabled  boolean  true
target-file-row-num  long  9223372036854775807
target-file-size  memory  -
upsert-key  string  -
write-buffer-size  memory  256 mb
write-only  boolean  false
write.isolation  enum  snapshot  snapshot*|serializable*
"""  # noqa: E501
"""Read and obeyed."""

UNSUPPORTED = """
blob-as-descriptor  boolean  false
blob-compaction.enabled  boolean  false
blob-descriptor-field  string  -
blob-descriptor.source-table  string  -
blob-external-storage-field  string  -
blob-external-storage-path  string  -
blob-field  string  -
blob-view-field  string  -
blob-view.resolve.enabled  boolean  true
blob-write-null-on-fetch-failure  boolean  false
blob-write-null-on-missing-file  boolean  false
blob.copy-buffer-size  memory  4 kb
blob.split-by-file-size  boolean  -
blob.target-file-size  memory  -
chain-table.chain-partition-keys  string  -
chain-table.enabled  boolean  false
fields.*.default-value  string  -
fields.*.map.shared-shredding.column-placement-policy  string  -
fields.*.map.shared-shredding.max-columns  int  -
fields.*.map.storage-layout  string  -
fields.*.nested-key-null-strategy  string  -
fields.*.nested-sequence-field  string  -
fields.*.pk-bitmap.index.options  string  -
fields.*.pk-btree.index.options  string  -
fields.*.pk-full-text.index.options  string  -
fields.*.pk-vector.distance.metric  string  -
fields.*.pk-vector.index.options  string  -
fields.*.pk-vector.index.type  string  -
fields.*.ts-field  string  -
key-value.sequence_number.enabled  boolean  false
pk-bitmap.index.columns  string  -
pk-btree.index.columns  string  -
pk-clustering-override  boolean  false
pk-full-text.index.columns  string  -
pk-multivalue.index.columns  string  -
pk-vector.index.columns  string  -
primary-key.nullable  boolean  false
query-auth.enabled  boolean  false
scan.fallback-branch.read-fail-fast  boolean  false
scan.fallback-delta-branch  string  -
scan.fallback-snapshot-branch  string  -
scan.primary-branch  string  -
sequence.snapshot-ordering  boolean  false
table-read.sequence-number.enabled  boolean  false
type  enum  table  table|format-table|materialized-table|object-table|lance-table|iceberg-table
vector-field  string  -
vector.file.format  string  -
vector.target-file-size  memory  -
"""
"""Other values than the default change what is read and what has to be written."""

UNSUPPORTED_FOR_READING = """
batch-scan-mode  enum  none  none|compact-bucket-table
consumer.changelog-only  boolean  false
lookup.blob-as-descriptor  boolean  false
read.allow.fullScan  boolean  true
read.changelog  boolean  false
scan.bucket  int  -
scan.partitions  string  -
scan.plan-auto-tag-for-read.time-retained  duration  -
stream-scan-mode  enum  none  none|compact-bucket-table|file-monitor
streaming-read-mode  enum  file  log|file
"""
"""Other values than the default change what is read."""

UNSUPPORTED_FOR_WRITING = """
avro.*  string  -
clustering.history-partition.idle-to-full-sort  duration  -
clustering.history-partition.limit  int  5
clustering.incremental.mode  enum  global-sort  global-sort|local-sort
clustering.incremental.optimize-write  boolean  false
commit.callback.*.param  string  -
commit.callbacks  string  -
compaction.file-num-limit  int  100000
compaction.max.file-num  int  -
compaction.skip-expired-partitions  boolean  false
cross-partition-upsert.index-ttl  duration  -
data-evolution.compaction.rewrite-row-ids  boolean  false
data-evolution.row-sidecar.enabled  boolean  false
fields.*.dimension  int  -
fields.*.nlist  int  -
global-index.build.max-parallelism  int  4096
global-index.build.max-shard  int  32
global-index.column-update-action  enum  THROW_ERROR  THROW_ERROR|DROP_PARTITION_INDEX|IGNORE
global-index.external-path  string  -
global-index.row-count-per-shard  long  100000
log.system  string  none
lookup.remote-file.enabled  boolean  false
manifest-sort.enabled  boolean  false
manifest-sort.max-rewrite-size  memory  256 mb
manifest-sort.partition-field  string  -
metadata.iceberg.hadoop-conf-dir  string  -
metadata.iceberg.hive-client-class  string  org.apache.hadoop.hive.metastore.HiveMetaStoreClient
orc.*  string  -
overwrite-upgrade  boolean  true
parquet.*  string  -
postpone.batch-write-fixed-bucket  boolean  true
postpone.batch-write-fixed-bucket.max-parallelism  int  2048
postpone.batch-write-fixed-bucket.rescale-load-factor  int  32
postpone.merge-on-read  boolean  false
postpone.target-row-num-per-bucket  long  -
postpone.target-size-per-bucket  memory  1 gb
tag.callback.*.param  string  -
tag.callbacks  string  -
variant.inferShreddingSchema  boolean  false
variant.shreddingSchema  string  -
visibility-callback.enabled  boolean  false
write.merge-schema  boolean  false
write.merge-schema.explicit-cast  boolean  false
write.merge-schema.type-widening  boolean  false
write.sequence-number-init-mode  enum  scan  scan|snapshot
"""
"""Other values than the default change what has to be written; reading is the same."""
