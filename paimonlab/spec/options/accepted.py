"""Table options that other engines obey, and that are accepted here without an effect."""

from __future__ import annotations

ACCEPTED = """
async-file-write  boolean  true
auto-create  boolean  false
branch-merge.enabled  boolean  false
bucket-append-ordered  boolean  true
cache-page-size  memory  64 kb
chain-table.split.key-range-enabled  boolean  true
chain-table.streaming.merge-snapshot  boolean  false
changelog.precommit-compact.thread-num  int  -
commit.custom-listeners  string  -
compaction.bucket-distribution-strategy  enum  linear  linear|size-aware-batch
connector  string  -
data-evolution.merge-into.file-pruning  boolean  true
data-evolution.merge-into.source-persist  boolean  false
data-evolution.reassign.skip-contiguous-row-count  long  1000000000
data-evolution.row-id-conflict-rewrite.max-size  memory  256 mb
data-evolution.row-sidecar.max-selected-rows  long  4096
data-evolution.row-sidecar.max-selection-ratio  float  0.05
end-input.watermark  long  -
file-reader-async-threshold  memory  10 mb
filesystem.job-level-settings.enabled  boolean  true
format-table.commit-hive-sync-url  string  -
format-table.file.compression  string  -
format-table.implementation  enum  paimon  paimon|engine
format-table.partition-path-only-value  boolean  false
format-table.repair.collect-statistics  boolean  false
format-table.scan.list-parallelism  int  64
format-table.statistics.parallelism  int  8
full-text-index.search-mode  enum  fast  fast|full|detail
global-index.enabled  boolean  true
global-index.search-mode  enum  -  fast|full|detail
global-index.thread-num  int  32
legacy-timestamp-mapping.enabled  boolean  false
local-kv-db.block-size  memory  4 kb
local-merge-buffer-size  memory  -
local-sort.max-num-file-handles  int  128
log.changelog-mode  string  auto
log.consistency  string  transactional
log.format  string  debezium-json
log.ignore-delete  boolean  false
log.key.format  string  json
lookup-wait  boolean  true
lookup.async  boolean  false
lookup.async-thread-number  int  16
lookup.bootstrap-parallelism  int  4
lookup.cache  enum  AUTO  AUTO|FULL|MEMORY
lookup.cache-rows  long  10000
lookup.cache.high-priority-pool-ratio  float  0.25
lookup.continuous.discovery-interval  duration  -
lookup.dynamic-partition.refresh-interval  duration  1 h
lookup.dynamic-partition.refresh.async  boolean  false
lookup.hash-load-factor  float  0.75
lookup.local-file-type  enum  sort  sort|hash
lookup.merge-buffer-size  memory  8 mb
lookup.merge-records-threshold  int  1024
lookup.refresh.async  boolean  false
lookup.refresh.async.pending-snapshot-count  int  5
lookup.refresh.full-load-threshold  int  -
lookup.refresh.time-periods-blacklist  string  -
lookup.remote-file.level-threshold  int  -2147483648
manifest.merge-optimize.enabled  boolean  true
materialized-table.*  string  -
metastore.partitioned-table  boolean  false
metastore.tag-to-partition  string  -
metastore.tag-to-partition.preview  enum  none  none|process-time|watermark|batch
owner  string  -
page-size  memory  64 kb
partition.idle-time-to-done  duration  -
partition.idle-time-to-report-statistic  duration  0 ms
partition.mark-done-action.custom.class  string  -
partition.mark-done-action.http.params  string  -
partition.mark-done-action.http.url  string  -
partition.mark-done-action.mode  enum  process-time  process-time|watermark
partition.mark-done.recover-from-state  boolean  true
partition.time-interval  duration  -
partition.timestamp-format.strict  boolean  false
path  string  -
precommit-compact  boolean  false
provider  string  -
read.batch-size  int  1024
read.shuffle-bucket-with-partition  boolean  true
requiredSparkConfsCheck.enabled  boolean  true
row-tracking.partition-group-on-commit  boolean  true
scalar-index.search-mode  enum  fast  fast|full|detail
scan.bounded  boolean  -
scan.dedicated-split-generation  boolean  false
scan.infer-parallelism  boolean  true
scan.infer-parallelism.max  int  1024
scan.manifest.parallelism  int  -
scan.max-snapshot.count  int  -1
scan.max-splits-per-task  int  10
scan.parallelism  int  -
scan.plan-sort-partition  boolean  false
scan.remove-normalize  boolean  false
scan.split-enumerator.batch-size  int  10
scan.split-enumerator.mode  enum  fair  fair|preemptive
scan.watermark.alignment.group  string  -
scan.watermark.alignment.max-drift  duration  -
scan.watermark.alignment.update-interval  duration  1 s
scan.watermark.emit.strategy  enum  on-event  on-periodic|on-event
scan.watermark.idle-timeout  duration  -
sink.clustering.sample-factor  int  100
sink.clustering.sort-in-cluster  boolean  true
sink.committer-cpu  float  1.0
sink.committer-memory  memory  -
sink.committer-operator-chaining  boolean  true
sink.coordinator-commit.enabled  boolean  false
sink.cross-partition.managed-memory  memory  256 mb
sink.key-only-deletes.enabled  boolean  false
sink.managed.writer-buffer-memory  memory  256 mb
sink.operator-uid.suffix  string  -
sink.parallelism  int  -
sink.savepoint.auto-tag  boolean  false
sink.use-managed-memory-allocator  boolean  false
sink.writer-coordinator.cache-expire-after-access  duration  -
sink.writer-coordinator.cache-memory  memory  2 gb
sink.writer-coordinator.cache-soft-values  boolean  true
sink.writer-coordinator.enabled  boolean  false
sink.writer-coordinator.page-size  memory  32 kb
sink.writer-coordinator.prefetch-manifests  boolean  false
sink.writer-cpu  float  1.0
sink.writer-memory  memory  -
sink.writer-refresh-detectors  string  -
snapshot.watermark-idle-timeout  duration  -
sort-compaction.local-sample.magnification  int  1000
sort-compaction.range-strategy  enum  SIZE  SIZE|QUANTITY
sort-engine  enum  loser-tree  min-heap|loser-tree
sort-spill-buffer-size  memory  64 mb
sort-spill-threshold  int  -
source.checkpoint-align.enabled  boolean  false
source.checkpoint-align.timeout  duration  30 s
source.operator-uid.suffix  string  -
source.split.target-size-with-column-pruning  boolean  false
spill-compression  string  zstd
spill-compression.zstd-level  int  1
unaware-bucket.compaction.parallelism  int  -
unaware-bucket.no-shuffle  boolean  false
variant.shredding.adaptive.maxInferBufferRow  int  256
variant.shredding.adaptive.retentionRatio  float  0.05
variant.shredding.inferenceMode  enum  per-file  per-file|adaptive
variant.shredding.maxInferBufferRow  int  4096
variant.shredding.maxSchemaDepth  int  50
variant.shredding.maxSchemaWidth  int  300
variant.shredding.minFieldCardinalityRatio  float  0.1
vector-index.search-mode  enum  fast  fast|full|detail
vector-search.distribute.enabled  boolean  false
vector-search.lateral-join.batch-size  int  256
vector-search.lateral-join.parallelism  int  16
visibility-callback.check-interval  duration  10 s
visibility-callback.timeout  duration  30 min
write-buffer-for-append  boolean  false
write-buffer-spill.max-disk-size  memory  infinite
write-buffer-spillable  boolean  true
write-max-writers-to-spill  int  10
write.batch-memory  memory  128 mb
write.batch-size  int  1024
write.data-evolution.update-conflict-retry.max-attempts  int  20
write.data-evolution.update-conflict-retry.wait-ms  long  10
write.hive-style-dynamic-partition.enabled  boolean  false
write.use-v2-write  boolean  false
zorder.var-length-contribution  int  8
"""
"""Without effect here: tuning of Java, or options of Flink, Hive and other engines."""
