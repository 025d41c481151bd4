import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.table.sink.TableWriteImpl;
import org.apache.paimon.table.source.DataSplit;

/** Rows that wait are given buckets, as a compaction of an engine does. */
final class Postponed {
    private static final String USER = "compact";

    private Postponed() {}

    /** {@code buckets}: of partitions that have none yet. */
    static Long compact(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        int buckets = request.get("buckets").asInt();
        FileStoreTable waiting = withBuckets(table, buckets);
        Map<BinaryRow, List<DataSplit>> splits = new LinkedHashMap<>();
        for (DataSplit split :
                waiting.newSnapshotReader()
                        .withBucket(BucketMode.POSTPONE_BUCKET)
                        .read()
                        .dataSplits()) {
            splits.computeIfAbsent(split.partition(), key -> new ArrayList<>()).add(split);
        }
        List<CommitMessage> messages = new ArrayList<>();
        for (Map.Entry<BinaryRow, List<DataSplit>> partition : splits.entrySet()) {
            int count = bucketsOf(table, partition.getKey(), buckets);
            compact(waiting, withBuckets(table, count), partition, messages);
        }
        try (TableCommitImpl commit = table.newCommit(USER)) {
            commit.commit(1, messages);
        }
        return table.snapshotManager().latestSnapshotId();
    }

    private static void compact(
            FileStoreTable waiting,
            FileStoreTable real,
            Map.Entry<BinaryRow, List<DataSplit>> partition,
            List<CommitMessage> messages)
            throws Exception {
        Map<DataFileMeta, DataSplit> splitOf = new HashMap<>();
        List<DataFileMeta> files = new ArrayList<>();
        for (DataSplit split : partition.getValue()) {
            for (DataFileMeta file : split.dataFiles()) {
                files.add(file);
                splitOf.put(file, split);
            }
        }
        files.sort(Comparator.comparing(DataFileMeta::creationTime));
        try (IOManager disk = Writing.ioManager();
                TableWriteImpl<?> write = real.newWrite(USER).withIOManager(disk)) {
            for (DataFileMeta file : files) {
                DataSplit split = splitOf.get(file);
                DataSplit one =
                        DataSplit.builder()
                                .withSnapshot(split.snapshotId())
                                .withPartition(split.partition())
                                .withBucket(split.bucket())
                                .withBucketPath(split.bucketPath())
                                .withTotalBuckets(split.totalBuckets())
                                .withDataFiles(List.of(file))
                                .isStreaming(true)
                                .rawConvertible(false)
                                .build();
                var read = waiting.newReadBuilder().newRead().withIOManager(disk);
                try (RecordReader<InternalRow> rows = read.createReader(one)) {
                    rows.forEachRemaining(row -> put(write, row));
                }
            }
            for (CommitMessage message : write.prepareCommit(true, 1)) {
                messages.add(asCompaction((CommitMessageImpl) message));
            }
        }
        var gone = new CompactIncrement(files, new ArrayList<>(), new ArrayList<>());
        messages.add(
                new CommitMessageImpl(
                        partition.getKey(),
                        BucketMode.POSTPONE_BUCKET,
                        BucketMode.POSTPONE_BUCKET,
                        DataIncrement.emptyIncrement(),
                        gone));
    }

    private static void put(TableWriteImpl<?> write, InternalRow row) {
        try {
            write.write(row);
        } catch (Exception error) {
            throw new RuntimeException(error);
        }
    }

    /** What was written counts as compacted: these rows were in the table before. */
    private static CommitMessage asCompaction(CommitMessageImpl message) {
        Map<String, DataFileMeta> added = new LinkedHashMap<>();
        List<DataFileMeta> before = new ArrayList<>();
        message.newFilesIncrement().newFiles().forEach(file -> added.put(file.fileName(), file));
        for (DataFileMeta file : message.compactIncrement().compactBefore()) {
            if (added.remove(file.fileName()) == null) {
                before.add(file);
            }
        }
        message.compactIncrement()
                .compactAfter()
                .forEach(file -> added.put(file.fileName(), file));
        var compacted =
                new CompactIncrement(before, new ArrayList<>(added.values()), new ArrayList<>());
        return new CommitMessageImpl(
                message.partition(),
                message.bucket(),
                message.totalBuckets(),
                DataIncrement.emptyIncrement(),
                compacted);
    }

    private static int bucketsOf(FileStoreTable table, BinaryRow partition, int otherwise) {
        for (ManifestEntry entry :
                table.store().newScan().onlyReadRealBuckets().plan().files()) {
            if (entry.partition().equals(partition) && entry.totalBuckets() > 0) {
                return entry.totalBuckets();
            }
        }
        return otherwise;
    }

    private static FileStoreTable withBuckets(FileStoreTable table, int buckets) {
        Map<String, String> options = new HashMap<>(table.options());
        options.put("bucket", String.valueOf(buckets));
        options.put("write-only", "false");
        return table.copy(table.schema().copy(options));
    }
}
