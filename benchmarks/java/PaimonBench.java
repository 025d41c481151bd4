import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.options.Options;
import org.apache.paimon.predicate.Predicate;
import org.apache.paimon.predicate.PredicateBuilder;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.utils.CloseableIterator;

/** One work of the benchmark in Java Paimon: WORK ROWS SCRATCH WAREHOUSE REPEAT COUNT. */
public final class PaimonBench {
    private static final int RUNS = 8;
    private static final int FEW_WARM = 10;
    private static String scratch;
    private static String warehouse;
    private static int repeat;
    private static int count;
    private static final List<Double> SECONDS = new ArrayList<>();
    private static long result;

    public static void main(String[] args) throws Exception {
        scratch = args[2];
        warehouse = args[3];
        repeat = Integer.parseInt(args[4]);
        count = Integer.parseInt(args[5]);
        switch (args[0]) {
            case "append_write":
                GenericRow[] all = rows(shuffled(count));
                timed(0, n -> write(create("t" + n, false), all));
                break;
            case "key_write":
                GenericRow[] keyed = rows(shuffled(count));
                timed(0, n -> write(create("t" + n, true), keyed));
                break;
            case "upsert":
                List<GenericRow[]> batches = upserts();
                timed(0, n -> {
                    Table table = create("t" + n, true);
                    long rows = 0;
                    for (GenericRow[] batch : batches) {
                        rows += write(table, batch);
                    }
                    return rows;
                });
                break;
            case "append_scan":
                timed(2, n -> read(open("append"), null, null));
                break;
            case "java_scan":
                timed(2, n -> read(open("java"), null, null));
                break;
            case "limit":
                timed(20, n -> firstRows(open("append"), 10));
                break;
            case "merge_scan":
                timed(2, n -> read(open("merge"), null, null));
                break;
            case "vector_scan":
                timed(2, n -> read(open("vectors"), null, null));
                break;
            case "merge_filter":
                timed(2, n -> read(open("merge"), greater(open("merge"), "a", 900_000L), new int[] {0, 1}));
                break;
            case "sum_scan":
                timed(2, n -> read(open("sums"), null, null));
                break;
            case "partial_scan":
                timed(2, n -> read(open("parts"), null, null));
                break;
            case "lookup":
                timed(1, n -> lookup(open("merge")));
                break;
            case "plan":
                timed(20, n -> plan(open("files"), null));
                break;
            case "plan_partition":
                timed(20, n -> plan(open("files"), 77));
                break;
            case "compact_full":
                for (int n = 0; n < repeat + 1; n++) {
                    copyTable("merge", "t" + n);
                }
                timed(1, n -> compact(scratchTable("t" + n, Map.of("write-only", "false")), 4));
                break;
            case "compact_bucket":
                for (int n = 0; n < repeat; n++) {
                    copyTable("bucket", "t" + n);
                }
                timed(0, n -> compact(scratchTable("t" + n, Map.of("write-only", "false")), 1));
                break;
            case "lookup_changelog":
                List<GenericRow[]> changes = upserts();
                timed(0, n -> {
                    Table table = create(
                            "t" + n, Map.of("bucket", "4", "changelog-producer", "lookup"));
                    for (GenericRow[] batch : changes) {
                        write(table, batch);
                    }
                    return ((FileStoreTable) table).snapshotManager().latestSnapshot().id();
                });
                break;
            case "few_upserts":
                fewUpserts("small_bucket", 400_000);
                break;
            case "few_upserts_medium":
                fewUpserts("medium_bucket", 1_600_000);
                break;
            case "few_upserts_large":
                fewUpserts("large_bucket", 6_400_000);
                break;
            case "few_upserts_huge":
                fewUpserts("huge_bucket", 16_000_000);
                break;
            case "expire":
                for (int n = 0; n < repeat + 1; n++) {
                    copyTable("history", "t" + n);
                }
                timed(1, n -> expire(scratchTable("t" + n, Map.of())));
                break;
            case "stream":
                timed(0, n -> read(open("large"), null, null));
                break;
            default:
                System.out.println("{\"missing\": true}");
                System.exit(0);
        }
        System.out.println("{\"seconds\": " + SECONDS + ", \"result\": " + result
                + ", \"peak_bytes\": " + peakBytes() + "}");
        System.exit(0);
    }

    private interface Work {
        long run(int number) throws Exception;
    }

    private static void timed(int warm, Work work) throws Exception {
        for (int number = 0; number < warm + repeat; number++) {
            long start = System.nanoTime();
            result = work.run(number);
            if (number >= warm) {
                SECONDS.add((System.nanoTime() - start) / 1e9);
            }
        }
    }

    private static Catalog catalog(String folder) {
        Options options = new Options();
        options.set("warehouse", folder);
        options.set("cache-enabled", "false");
        return CatalogFactory.createCatalog(CatalogContext.create(options));
    }

    /** The most memory this process had, heap and all. */
    private static long peakBytes() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        return 0;
    }

    private static Table create(String name, boolean keyed) throws Exception {
        return create(name, keyed ? Map.of("bucket", "4", "write-only", "true") : Map.of());
    }

    private static Table create(String name, Map<String, String> options) throws Exception {
        Catalog catalog = catalog(scratch);
        catalog.createDatabase("db", true);
        Schema.Builder schema = Schema.newBuilder()
                .column("k", DataTypes.BIGINT().notNull())
                .column("a", DataTypes.BIGINT())
                .column("d", DataTypes.DOUBLE())
                .column("s", DataTypes.STRING())
                .column("t", DataTypes.TIMESTAMP(6))
                .column("m", DataTypes.DECIMAL(12, 2));
        if (!options.isEmpty()) {
            schema.primaryKey("k").options(options);
        }
        catalog.createTable(Identifier.create("db", name), schema.build(), false);
        return catalog.getTable(Identifier.create("db", name));
    }

    private static Table open(String name) throws Exception {
        return catalog(warehouse).getTable(Identifier.create("db", name));
    }

    /** Copies a table of the warehouse: what changes it needs one of its own. */
    private static void copyTable(String name, String target) throws Exception {
        Path from = Path.of(warehouse, "db.db", name);
        Path to = Path.of(scratch, "db.db", target);
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Path copy = to.resolve(from.relativize(file).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
    }

    private static Table scratchTable(String name, Map<String, String> options) throws Exception {
        return catalog(scratch).getTable(Identifier.create("db", name)).copy(options);
    }

    /** Compacts all buckets fully, as a dedicated job does. */
    private static long compact(Table table, int buckets) throws Exception {
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        try (BatchTableWrite write = builder.newWrite(); BatchTableCommit commit = builder.newCommit()) {
            write.withIOManager(IOManager.create(scratch));
            for (int bucket = 0; bucket < buckets; bucket++) {
                write.compact(BinaryRow.EMPTY_ROW, bucket, true);
            }
            commit.commit(write.prepareCommit());
        }
        return ((FileStoreTable) table).snapshotManager().latestSnapshot().totalRecordCount();
    }

    private static long expire(Table table) {
        ExpireConfig keep = ExpireConfig.builder()
                .snapshotRetainMax(100)
                .snapshotRetainMin(100)
                .snapshotTimeRetain(Duration.ofMillis(1))
                .snapshotMaxDeletes(Integer.MAX_VALUE)
                .build();
        return table.newExpireSnapshots().config(keep).expire();
    }

    private static long write(Table table, GenericRow[] rows) throws Exception {
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        try (BatchTableWrite write = builder.newWrite(); BatchTableCommit commit = builder.newCommit()) {
            write.withIOManager(IOManager.create(scratch));
            for (GenericRow row : rows) {
                write.write(row);
            }
            commit.commit(write.prepareCommit());
        }
        return rows.length;
    }

    private static long read(Table table, Predicate filter, int[] projection) throws Exception {
        ReadBuilder builder = table.newReadBuilder();
        if (filter != null) {
            builder.withFilter(filter);
        }
        if (projection != null) {
            builder.withProjection(projection);
        }
        long[] seen = new long[2];
        boolean isWhole = projection == null;
        for (Split split : builder.newScan().plan().splits()) {
            try (RecordReader<InternalRow> reader = builder.newRead().executeFilter().createReader(split)) {
                reader.forEachRemaining(row -> {
                    seen[0]++;
                    seen[1] += row.getLong(0) ^ row.getLong(1);
                    if (isWhole) {
                        seen[1] ^= Double.doubleToLongBits(row.getDouble(2)) ^ row.getString(3).getSizeInBytes();
                        seen[1] ^= row.getTimestamp(4, 6).getMillisecond() ^ row.getDecimal(5, 12, 2).toUnscaledLong();
                    }
                });
            }
        }
        return seen[0];
    }

    /** Commits 1,000 random keys at a time, each by a writer of its own. */
    private static void fewUpserts(String name, int keys) throws Exception {
        copyTable(name, "t0");
        Table table = scratchTable("t0", Map.of());
        List<GenericRow[]> batches = new ArrayList<>();
        Random random = new Random(1);
        for (int n = 0; n < FEW_WARM + repeat; n++) {
            List<Long> chosen = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                chosen.add((long) random.nextInt(keys));
            }
            batches.add(rows(chosen));
        }
        timed(FEW_WARM, n -> write(table, batches.get(n)));
    }

    private static long firstRows(Table table, int limit) throws Exception {
        ReadBuilder builder = table.newReadBuilder().withLimit(limit);
        long seen = 0;
        for (Split split : builder.newScan().plan().splits()) {
            try (RecordReader<InternalRow> reader = builder.newRead().createReader(split);
                    CloseableIterator<InternalRow> rows = reader.toCloseableIterator()) {
                while (seen < limit && rows.hasNext()) {
                    rows.next();
                    seen++;
                }
            }
        }
        return seen;
    }

    private static Predicate greater(Table table, String column, long value) {
        PredicateBuilder builder = new PredicateBuilder(table.rowType());
        return builder.greaterThan(builder.indexOf(column), value);
    }

    private static long lookup(Table table) throws Exception {
        PredicateBuilder builder = new PredicateBuilder(table.rowType());
        Random random = new Random(1);
        long found = 0;
        for (int i = 0; i < 100; i++) {
            found += read(table, builder.equal(0, (long) random.nextInt(1_000_000)), null);
        }
        return found;
    }

    private static long plan(Table table, Integer partition) {
        ReadBuilder builder = table.newReadBuilder();
        if (partition != null) {
            builder.withFilter(new PredicateBuilder(table.rowType()).equal(0, partition));
        }
        long files = 0;
        for (Split split : builder.newScan().plan().splits()) {
            files += ((DataSplit) split).dataFiles().size();
        }
        return files;
    }

    private static List<Long> shuffled(int size) {
        List<Long> keys = new ArrayList<>(size);
        for (long key = 0; key < size; key++) {
            keys.add(key);
        }
        Collections.shuffle(keys, new Random(1));
        return keys;
    }

    private static List<GenericRow[]> upserts() {
        List<GenericRow[]> batches = new ArrayList<>();
        int size = count / RUNS;
        long known = 0;
        Random random = new Random(2);
        for (int run = 0; run < RUNS; run++) {
            List<Long> keys = new ArrayList<>();
            int again = run == 0 ? 0 : size / 2;
            for (int i = 0; i < again; i++) {
                keys.add((long) (random.nextDouble() * known));
            }
            for (int i = again; i < size; i++) {
                keys.add(known++);
            }
            Collections.shuffle(keys, random);
            batches.add(rows(keys));
        }
        return batches;
    }

    private static GenericRow[] rows(List<Long> keys) {
        Random random = new Random(3);
        GenericRow[] rows = new GenericRow[keys.size()];
        byte[] text = new byte[20];
        for (int i = 0; i < rows.length; i++) {
            for (int b = 0; b < text.length; b++) {
                text[b] = (byte) ('a' + random.nextInt(25));
            }
            long micros = 1_600_000_000_000_000L + (long) (random.nextDouble() * 1e14);
            rows[i] = GenericRow.of(
                    keys.get(i),
                    (long) random.nextInt(1_000_000),
                    random.nextDouble(),
                    BinaryString.fromBytes(text.clone()),
                    Timestamp.fromMicros(micros),
                    Decimal.fromUnscaledLong(random.nextInt(1_000_000_000), 12, 2));
        }
        return rows;
    }
}
