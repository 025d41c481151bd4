import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.UUID;
import org.apache.paimon.CoreOptions;
import org.apache.paimon.crosspartition.GlobalIndexAssigner;
import org.apache.paimon.crosspartition.IndexBootstrap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.index.BucketAssigner;
import org.apache.paimon.index.HashBucketAssigner;
import org.apache.paimon.index.SimpleHashBucketAssigner;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.RowPartitionKeyExtractor;
import org.apache.paimon.table.sink.TableWrite;

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
            new IndexBootstrap(table)
                    .bootstrap(
                            1,
                            0,
                            row -> {
                                try {
                                    assigner.bootstrapKey(row);
                                } catch (IOException error) {
                                    throw new UncheckedIOException(error);
                                }
                            });
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
}
