import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.options.Options;
import org.apache.paimon.predicate.Predicate;
import org.apache.paimon.predicate.PredicateBuilder;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.types.DataTypes;

/** One work of the benchmark in Java Paimon: WORK ROWS SCRATCH WAREHOUSE REPEAT COUNT. */
public final class PaimonBench {
    private static final int RUNS = 8;
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
            case "stream":
                timed(0, n -> read(open("large"), null, null));
                break;
            default:
                System.out.println("{\"missing\": true}");
                System.exit(0);
        }
        System.out.println("{\"seconds\": " + SECONDS + ", \"result\": " + result + "}");
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

    private static Table create(String name, boolean keyed) throws Exception {
        Catalog catalog = catalog(scratch);
        catalog.createDatabase("db", true);
        Schema.Builder schema = Schema.newBuilder()
                .column("k", DataTypes.BIGINT().notNull())
                .column("a", DataTypes.BIGINT())
                .column("d", DataTypes.DOUBLE())
                .column("s", DataTypes.STRING())
                .column("t", DataTypes.TIMESTAMP(6))
                .column("m", DataTypes.DECIMAL(12, 2));
        if (keyed) {
            schema.primaryKey("k").option("bucket", "4").option("write-only", "true");
        }
        catalog.createTable(Identifier.create("db", name), schema.build(), false);
        return catalog.getTable(Identifier.create("db", name));
    }

    private static Table open(String name) throws Exception {
        return catalog(warehouse).getTable(Identifier.create("db", name));
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
