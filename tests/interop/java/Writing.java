import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.paimon.append.AppendCompactCoordinator;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.operation.BaseAppendFileStoreWrite;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.FormatTable;
import org.apache.paimon.table.SpecialFields;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.table.sink.TableWriteImpl;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.EndOfScanException;
import org.apache.paimon.utils.Pair;

/** Rows written, files compacted. */
final class Writing {
    private Writing() {}

    /** {@code rows [[kind, [values]], ...], overwrite {partition}}: one batch commit. */
    static Long write(Request request) throws Exception {
        if (request.table() instanceof FormatTable) {
            return writeFiles(request, request.table());
        }
        FileStoreTable table = request.storeTable();
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        if (request.has("overwrite")) {
            builder.withOverwrite(request.map("overwrite"));
        }
        try (IOManager files = ioManager();
                BatchTableWrite write = (BatchTableWrite) builder.newWrite().withIOManager(files);
                Routing routing = Routing.of(table, write, files, request.has("overwrite"));
                BatchTableCommit commit = builder.newCommit()) {
            for (JsonNode row : request.get("rows")) {
                routing.write(Values.kindAndRow(row, table.rowType()));
            }
            commit.commit(write.prepareCommit());
        }
        return latest(table);
    }

    private static Long writeFiles(Request request, Table table) throws Exception {
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        if (request.has("overwrite")) {
            builder.withOverwrite(request.map("overwrite"));
        }
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit()) {
            for (JsonNode row : request.get("rows")) {
                write.write(Values.kindAndRow(row, table.rowType()));
            }
            commit.commit(write.prepareCommit());
        }
        return null;
    }

    /** Compact every bucket fully, whatever {@code write-only} says. */
    static Long compact(Request request) throws Exception {
        FileStoreTable table = request.storeTable().copy(Map.of("write-only", "false"));
        List<CommitMessage> messages =
                table.bucketMode() == BucketMode.BUCKET_UNAWARE
                        ? compactAppendFiles(table)
                        : compactBuckets(table);
        try (TableCommitImpl commit = table.newCommit(UUID.randomUUID().toString())) {
            commit.commit(1, messages);
        }
        return latest(table);
    }

    private static List<CommitMessage> compactBuckets(FileStoreTable table) throws Exception {
        Set<Pair<BinaryRow, Integer>> buckets =
                table.newSnapshotReader().read().dataSplits().stream()
                        .map(split -> Pair.of(split.partition().copy(), split.bucket()))
                        .collect(Collectors.toSet());
        try (IOManager files = ioManager();
                TableWriteImpl<?> write = table.newWrite("compact").withIOManager(files)) {
            for (Pair<BinaryRow, Integer> bucket : buckets) {
                write.compact(bucket.getLeft(), bucket.getRight(), true);
            }
            return write.prepareCommit(true, 1);
        }
    }

    private static List<CommitMessage> compactAppendFiles(FileStoreTable table) throws Exception {
        List<CommitMessage> messages = new ArrayList<>();
        var write = (BaseAppendFileStoreWrite) (Object) table.store().newWrite("compact");
        if (table.coreOptions().rowTrackingEnabled()) {
            // As the engines do: ids and sequence numbers are kept in the file.
            write.withWriteType(SpecialFields.rowTypeWithRowTracking(table.rowType()));
        }
        try {
            for (AppendCompactTask task : new AppendCompactCoordinator(table, false).run()) {
                messages.add(task.doCompact(table, write));
            }
        } catch (EndOfScanException nothingToCompact) {
            return messages;
        } finally {
            write.close();
        }
        return messages;
    }

    static Long dropPartition(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        try (BatchTableCommit commit = table.newBatchWriteBuilder().newCommit()) {
            commit.truncatePartitions(List.of(request.map("partition")));
        }
        return latest(table);
    }

    static IOManager ioManager() {
        return IOManager.create(System.getProperty("java.io.tmpdir"));
    }

    private static Long latest(FileStoreTable table) {
        return table.snapshotManager().latestSnapshotId();
    }
}
