import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import org.apache.paimon.Snapshot;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.deletionvectors.Bitmap64DeletionVector;
import org.apache.paimon.deletionvectors.BitmapDeletionVector;
import org.apache.paimon.deletionvectors.DeletionVector;
import org.apache.paimon.deletionvectors.append.BaseAppendDeleteFileMaintainer;
import org.apache.paimon.index.IndexFileHandler;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.FileKind;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.utils.Pair;

/** Deletion vectors. */
final class Deletions {
    private Deletions() {}

    /** {@code positions, bitmap64}: the bytes of one vector, in hex. */
    static String vector(Request request) {
        DeletionVector vector = empty(request.get("bitmap64").asBoolean());
        for (JsonNode position : request.get("positions")) {
            vector.delete(position.asLong());
        }
        return Values.hex(DeletionVector.serializeToBytes(vector));
    }

    /** {@code filter}: marks rows of an append table, as Spark's DELETE does; how many. */
    static Long delete(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        var filter = Predicates.parse(request.get("filter"), table.rowType());
        Snapshot latest = table.snapshotManager().latestSnapshot();
        Map<Pair<BinaryRow, Integer>, BaseAppendDeleteFileMaintainer> buckets =
                new LinkedHashMap<>();
        long deleted = 0;
        for (DataSplit split : table.newSnapshotReader().withFilter(filter).read().dataSplits()) {
            BaseAppendDeleteFileMaintainer bucket =
                    buckets.computeIfAbsent(
                            Pair.of(split.partition().copy(), split.bucket()),
                            key -> maintainer(table, latest, key));
            for (int i = 0; i < split.dataFiles().size(); i++) {
                DataFileMeta file = split.dataFiles().get(i);
                DeletionVector vector = matching(table, split, i, filter::test);
                deleted += vector.getCardinality();
                if (!vector.isEmpty()) {
                    bucket.notifyNewDeletionVector(file.fileName(), vector);
                }
            }
        }
        List<CommitMessage> messages = new ArrayList<>();
        buckets.forEach((key, bucket) -> messages.add(message(key, bucket)));
        try (TableCommitImpl commit = table.newCommit(UUID.randomUUID().toString())) {
            commit.commit(1, messages);
        }
        return deleted;
    }

    private static BaseAppendDeleteFileMaintainer maintainer(
            FileStoreTable table, Snapshot latest, Pair<BinaryRow, Integer> bucket) {
        IndexFileHandler handler = table.store().newIndexFileHandler();
        return table.bucketMode() == BucketMode.BUCKET_UNAWARE
                ? BaseAppendDeleteFileMaintainer.forUnawareAppend(handler, latest, bucket.getLeft())
                : BaseAppendDeleteFileMaintainer.forBucketedAppend(
                        handler, latest, bucket.getLeft(), bucket.getRight());
    }

    private static DeletionVector matching(
            FileStoreTable table, DataSplit split, int number, Predicate<InternalRow> filter)
            throws Exception {
        DataSplit.Builder one =
                DataSplit.builder()
                        .withSnapshot(split.snapshotId())
                        .withPartition(split.partition())
                        .withBucket(split.bucket())
                        .withBucketPath(split.bucketPath())
                        .withDataFiles(List.of(split.dataFiles().get(number)))
                        .rawConvertible(true);
        split.deletionFiles()
                .ifPresent(
                        files -> {
                            List<org.apache.paimon.table.source.DeletionFile> its =
                                    new ArrayList<>();
                            its.add(files.get(number));
                            one.withDataDeletionFiles(its);
                        });
        DeletionVector vector = empty(table.coreOptions().deletionVectorBitmap64());
        try (RecordReader<InternalRow> rows =
                table.newReadBuilder().newRead().createReader(one.build())) {
            rows.forEachRemainingWithPosition(
                    (position, row) -> {
                        if (filter.test(row)) {
                            vector.delete(position);
                        }
                    });
        }
        return vector;
    }

    private static CommitMessage message(
            Pair<BinaryRow, Integer> key, BaseAppendDeleteFileMaintainer bucket) {
        List<IndexFileMeta> added = new ArrayList<>();
        List<IndexFileMeta> removed = new ArrayList<>();
        for (IndexManifestEntry entry : bucket.persist()) {
            (entry.kind() == FileKind.ADD ? added : removed).add(entry.indexFile());
        }
        return new CommitMessageImpl(
                key.getLeft(),
                key.getRight(),
                null,
                new DataIncrement(List.of(), List.of(), List.of(), added, removed),
                CompactIncrement.emptyIncrement());
    }

    private static DeletionVector empty(boolean is64) {
        return is64 ? new Bitmap64DeletionVector() : new BitmapDeletionVector();
    }
}
