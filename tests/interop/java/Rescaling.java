import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.CoreOptions;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.serializer.InternalRowSerializer;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.source.ReadBuilder;

/** Another number of buckets, as the action of an engine gives it. */
final class Rescaling {
    private Rescaling() {}

    /** {@code buckets}: the rows that readers see are read, and overwrite themselves. */
    static Long rescale(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        Map<String, String> options = new HashMap<>(table.options());
        options.put(CoreOptions.BUCKET.key(), request.text("buckets"));
        FileStoreTable rescaled = table.copy(table.schema().copy(options));
        BatchWriteBuilder builder = rescaled.newBatchWriteBuilder().withOverwrite(Map.of());
        try (IOManager files = Writing.ioManager();
                BatchTableWrite write = (BatchTableWrite) builder.newWrite().withIOManager(files);
                BatchTableCommit commit = builder.newCommit()) {
            for (InternalRow row : rows(table, files)) {
                write.write(row);
            }
            commit.commit(write.prepareCommit());
        }
        return table.snapshotManager().latestSnapshotId();
    }

    private static List<InternalRow> rows(FileStoreTable table, IOManager files) throws Exception {
        ReadBuilder builder = table.newReadBuilder();
        var serializer = new InternalRowSerializer(table.rowType());
        List<InternalRow> rows = new ArrayList<>();
        try (RecordReader<InternalRow> reader =
                builder.newRead()
                        .withIOManager(files)
                        .createReader(builder.newScan().plan().splits())) {
            reader.forEachRemaining(row -> rows.add(serializer.copy(row)));
        }
        return rows;
    }
}
