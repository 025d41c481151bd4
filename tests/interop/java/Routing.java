import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.paimon.CoreOptions;
import org.apache.paimon.crosspartition.GlobalIndexAssigner;
import org.apache.paimon.crosspartition.IndexBootstrap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.index.BucketAssigner;
import org.apache.paimon.index.HashBucketAssigner;
import org.apache.paimon.index.SimpleHashBucketAssigner;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.RowPartitionKeyExtractor;
import org.apache.paimon.table.sink.TableWrite;
import org.apache.paimon.table.source.DataTableScan;
import org.apache.paimon.table.source.ReadBuilder;

/** Gives rows their buckets, as one task of an engine does. */
interface Routing extends AutoCloseable {
    void write(InternalRow row) throws Exception;

    @Override
    default void close() throws IOException {}

    static Routing of(FileStoreTable table, TableWrite write, IOManager files, boolean overwrites)
            throws Exception {
        return switch (table.bucketMode()) {
            case HASH_DYNAMIC -> byHash(table, write, overwrites);
            case KEY_DYNAMIC -> byKey(table, write, files, overwrites);
            default -> write::write;
        };
    }

    private static Routing byHash(FileStoreTable table, TableWrite write, boolean overwrites) {
        CoreOptions options = table.coreOptions();
        long target = options.dynamicBucketTargetRowNum();
        int most = options.dynamicBucketMaxBuckets();
        BucketAssigner assigner =
                overwrites
                        ? new SimpleHashBucketAssigner(1, 0, target, most)
                        : new HashBucketAssigner(
                                table.snapshotManager(),
                                UUID.randomUUID().toString(),
                                table.store().newIndexFileHandler(),
                                1,
                                1,
                                0,
                                target,
                                most);
        RowPartitionKeyExtractor keys = new RowPartitionKeyExtractor(table.schema());
        return row -> {
            int hash = keys.trimmedPrimaryKey(row).hashCode();
            write.write(row, assigner.assign(keys.partition(row), hash));
        };
    }

    private static Routing byKey(
            FileStoreTable table, TableWrite write, IOManager files, boolean overwrites)
            throws Exception {
        GlobalIndexAssigner assigner = new GlobalIndexAssigner(table);
        assigner.open(
                64L << 20,
                files,
                1,
                0,
                (row, bucket) -> {
                    try {
                        write.write(row, bucket);
                    } catch (Exception error) {
                        throw new RuntimeException(error);
                    }
                });
        if (!overwrites) {
            bootstrap(table, assigner);
        }
        assigner.endBoostrap(false);
        return new Routing() {
            @Override
            public void write(InternalRow row) throws Exception {
                assigner.processInput(row);
            }

            @Override
            public void close() throws IOException {
                assigner.close();
            }
        };
    }

    /**
     * Tell the assigner all keys that are there. They are counted first: behind the last one, Java's
     * bootstrap would wait two seconds for another.
     */
    private static void bootstrap(FileStoreTable table, GlobalIndexAssigner assigner)
            throws Exception {
        long left = countKeys(table);
        try (RecordReader<InternalRow> keys = new IndexBootstrap(table).bootstrap(1, 0)) {
            while (left > 0) {
                RecordReader.RecordIterator<InternalRow> batch = keys.readBatch();
                if (batch == null) {
                    throw new IllegalStateException(left + " keys of " + table.name() + " are missing");
                }
                for (InternalRow key = batch.next(); key != null; key = batch.next()) {
                    assigner.bootstrapKey(key);
                    left--;
                }
                batch.releaseBatch();
            }
        }
    }

    private static long countKeys(FileStoreTable table) throws IOException {
        int[] keys = table.rowType().getFieldIndices(table.schema().trimmedPrimaryKeys());
        ReadBuilder builder = table.newReadBuilder().withProjection(keys);
        DataTableScan scan = (DataTableScan) builder.newScan();
        AtomicLong count = new AtomicLong();
        try (RecordReader<InternalRow> rows =
                builder.newRead().createReader(scan.withLevelFilter(level -> true).plan())) {
            rows.forEachRemaining(row -> count.incrementAndGet());
        }
        return count.get();
    }
}
