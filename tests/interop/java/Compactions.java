import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.apache.paimon.compact.CompactResult;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryRowWriter;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.deletionvectors.BitmapDeletionVector;
import org.apache.paimon.deletionvectors.BucketedDvMaintainer;
import org.apache.paimon.deletionvectors.DeletionVectorsIndexFile;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.mergetree.Levels;
import org.apache.paimon.mergetree.SortedRun;
import org.apache.paimon.mergetree.compact.ClockedFullCompactTrigger;
import org.apache.paimon.mergetree.compact.CompactRewriter;
import org.apache.paimon.mergetree.compact.CompactStrategy;
import org.apache.paimon.mergetree.compact.ForceUpLevel0Compaction;
import org.apache.paimon.mergetree.compact.MergeTreeCompactManager;
import org.apache.paimon.mergetree.compact.OffPeakHours;
import org.apache.paimon.mergetree.compact.UniversalCompaction;
import org.apache.paimon.options.MemorySize;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.stats.SimpleStats;

/** What Java's compaction manager does with buckets that exist only as metadata. */
final class Compactions implements CompactRewriter {
    private static final Comparator<InternalRow> BY_KEY =
            (left, right) -> Long.compare(left.getLong(0), right.getLong(0));

    private final long targetBytes;
    private int written;
    private ArrayNode steps = Values.JSON.arrayNode();

    private Compactions(long targetBytes) {
        this.targetBytes = targetBytes;
    }

    /**
     * {@code buckets}: of each the options and events, see {@code tests/compact/java_buckets.py};
     * returns for each bucket and pick the steps: {@code [level, drops deletes, [[names]]]} for a
     * rewrite, {@code [name, level]} for an upgrade.
     */
    static Object replay(Request request) throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            ArrayNode found = Values.JSON.arrayNode();
            for (JsonNode bucket : request.get("buckets")) {
                found.add(replay(bucket, executor));
            }
            return found;
        } finally {
            executor.shutdown();
        }
    }

    private static ArrayNode replay(JsonNode bucket, ExecutorService executor) throws Exception {
        long[] now = {0};
        Compactions rewriter = new Compactions(bucket.get("target").asLong());
        List<DataFileMeta> files = new ArrayList<>();
        bucket.get("files").forEach(file -> files.add(file(file)));
        BucketedDvMaintainer vectors =
                bucket.hasNonNull("vectors") ? vectors(Request.texts(bucket.get("vectors"))) : null;
        MergeTreeCompactManager manager =
                new MergeTreeCompactManager(
                        executor,
                        new Levels(BY_KEY, files, bucket.get("levels").asInt()),
                        strategy(bucket, now),
                        BY_KEY,
                        bucket.get("small").asLong(),
                        Integer.MAX_VALUE,
                        rewriter,
                        null,
                        vectors,
                        true,
                        false,
                        null,
                        bucket.get("rewrites_all").asBoolean());
        ArrayNode found = Values.JSON.arrayNode();
        for (JsonNode event : bucket.get("events")) {
            if (event.isArray()) {
                manager.addNewFile(file(event));
                continue;
            }
            now[0] = event.get("now").asLong();
            rewriter.steps = Values.JSON.arrayNode();
            manager.triggerCompaction(event.get("full").asBoolean());
            manager.getCompactionResult(true);
            found.add(rewriter.steps);
        }
        return found;
    }

    private static CompactStrategy strategy(JsonNode bucket, long[] now) {
        JsonNode quiet = bucket.get("off_peak");
        OffPeakHours hours =
                OffPeakHours.create(
                        quiet.get(0).asInt(), quiet.get(1).asInt(), quiet.get(2).asInt());
        int more = hours == null ? 0 : hours.currentRatio(quiet.get(3).asInt());
        Long interval = bucket.hasNonNull("interval") ? bucket.get("interval").asLong() : null;
        Long total = bucket.hasNonNull("total_size") ? bucket.get("total_size").asLong() : null;
        UniversalCompaction universal =
                new UniversalCompaction(
                        bucket.get("amplification").asInt(),
                        bucket.get("ratio").asInt() + more,
                        bucket.get("trigger").asInt(),
                        interval == null && total == null
                                ? null
                                : new ClockedFullCompactTrigger(interval, total, () -> now[0]),
                        null);
        int picks = bucket.get("picks_of_level_0").asInt();
        return picks == 0
                ? universal
                : new ForceUpLevel0Compaction(universal, picks == 1 ? null : picks);
    }

    private static BucketedDvMaintainer vectors(List<String> names) throws Exception {
        Map<String, org.apache.paimon.deletionvectors.DeletionVector> found = new HashMap<>();
        names.forEach(name -> found.put(name, new BitmapDeletionVector()));
        Constructor<BucketedDvMaintainer> made =
                BucketedDvMaintainer.class.getDeclaredConstructor(
                        DeletionVectorsIndexFile.class, Map.class);
        made.setAccessible(true);
        var index = new DeletionVectorsIndexFile(null, null, MemorySize.ofMebiBytes(1), false);
        return made.newInstance(index, found);
    }

    /** {@code [name, bytes, rows, level, min key, max key, min seq, max seq, deletes]}. */
    private static DataFileMeta file(JsonNode json) {
        return file(
                json.get(0).asText(),
                json.get(1).asLong(),
                json.get(2).asLong(),
                json.get(3).asInt(),
                new long[] {
                    json.get(4).asLong(),
                    json.get(5).asLong(),
                    json.get(6).asLong(),
                    json.get(7).asLong()
                },
                json.get(8).isNull() ? null : json.get(8).asLong());
    }

    private static DataFileMeta file(
            String name, long bytes, long rows, int level, long[] range, Long deletes) {
        return DataFileMeta.create(
                name,
                bytes,
                rows,
                key(range[0]),
                key(range[1]),
                SimpleStats.EMPTY_STATS,
                SimpleStats.EMPTY_STATS,
                range[2],
                range[3],
                0,
                level,
                List.of(),
                deletes,
                null,
                null,
                null,
                null,
                null,
                null);
    }

    private static BinaryRow key(long value) {
        BinaryRow row = new BinaryRow(1);
        BinaryRowWriter writer = new BinaryRowWriter(row);
        writer.writeLong(0, value);
        writer.complete();
        return row;
    }

    @Override
    public CompactResult rewrite(int level, boolean dropsDeletes, List<List<SortedRun>> sections) {
        ArrayNode step = steps.addArray().add(level).add(dropsDeletes);
        ArrayNode drawn = step.addArray();
        List<DataFileMeta> before = new ArrayList<>();
        long bytes = 0;
        long rows = 0;
        for (List<SortedRun> section : sections) {
            List<DataFileMeta> files =
                    section.stream()
                            .flatMap(run -> run.files().stream())
                            .sorted(Comparator.comparing(DataFileMeta::fileName))
                            .collect(Collectors.toList());
            ArrayNode names = drawn.addArray();
            files.forEach(file -> names.add(file.fileName()));
            before.addAll(files);
            long[] size = merged(files);
            bytes += size[0];
            rows += size[1];
        }
        return new CompactResult(before, cut(before, bytes, rows, level));
    }

    /** Bytes and rows after a merge of rows whose keys are spread evenly over their ranges. */
    private static long[] merged(List<DataFileMeta> files) {
        long low = files.stream().mapToLong(file -> file.minKey().getLong(0)).min().getAsLong();
        long high = files.stream().mapToLong(file -> file.maxKey().getLong(0)).max().getAsLong();
        long span = high - low + 1;
        double absent = 1.0;
        long bytes = 0;
        long all = 0;
        long most = 0;
        for (DataFileMeta file : files) {
            absent *= 1.0 - Math.min(1.0, (double) file.rowCount() / span);
            bytes += file.fileSize();
            all += file.rowCount();
            most = Math.max(most, file.rowCount());
        }
        long rows = Math.min(all, Math.max(most, (long) (span * (1.0 - absent))));
        return new long[] {bytes * rows / all, rows};
    }

    /** Cuts what was merged into files of about the target size. */
    private List<DataFileMeta> cut(List<DataFileMeta> before, long bytes, long rows, int level) {
        long low = before.stream().mapToLong(file -> file.minKey().getLong(0)).min().getAsLong();
        long high = before.stream().mapToLong(file -> file.maxKey().getLong(0)).max().getAsLong();
        long oldest = before.stream().mapToLong(DataFileMeta::minSequenceNumber).min().getAsLong();
        long newest = before.stream().mapToLong(DataFileMeta::maxSequenceNumber).max().getAsLong();
        long span = high - low + 1;
        long parts = Math.max(1, Math.min((bytes + targetBytes - 1) / targetBytes, span));
        List<DataFileMeta> after = new ArrayList<>();
        for (long part = 0; part < parts; part++) {
            after.add(
                    file(
                            "c" + written++,
                            bytes * (part + 1) / parts - bytes * part / parts,
                            Math.max(1, rows * (part + 1) / parts - rows * part / parts),
                            level,
                            new long[] {
                                low + span * part / parts,
                                low + span * (part + 1) / parts - 1,
                                oldest,
                                newest
                            },
                            0L));
        }
        return after;
    }

    @Override
    public CompactResult upgrade(int level, DataFileMeta file) {
        steps.addArray().add(file.fileName()).add(level);
        return new CompactResult(file, file.upgrade(level));
    }

    @Override
    public void close() {}
}
