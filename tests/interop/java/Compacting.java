import java.lang.reflect.Method;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.paimon.append.AppendCompactCoordinator;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.append.BucketedAppendCompactManager;
import org.apache.paimon.append.cluster.IncrementalClusterManager;
import org.apache.paimon.append.cluster.IncrementalClusterStrategy;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.FileSource;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.sort.hilbert.HilbertIndexer;
import org.apache.paimon.sort.zorder.ZOrderByteUtils;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.FileStoreTable;

/** What Java picks of given files. */
final class Compacting {
    private Compacting() {}

    /** {@code states [[[name, size, smallest sequence number], ...], ...]}: names by task. */
    static ArrayNode pickPartitions(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        Method notify =
                open(
                        AppendCompactCoordinator.class.getDeclaredMethod(
                                "notifyNewFiles", BinaryRow.class, List.class));
        Method plan = open(AppendCompactCoordinator.class.getDeclaredMethod("compactPlan"));
        ArrayNode picks = Values.JSON.arrayNode();
        for (JsonNode state : request.get("states")) {
            var coordinator = new AppendCompactCoordinator(table, false);
            notify.invoke(coordinator, BinaryRow.EMPTY_ROW, files(state));
            ArrayNode tasks = picks.addArray();
            for (Object task : (List<?>) plan.invoke(coordinator)) {
                names(tasks.addArray(), ((AppendCompactTask) task).compactBefore());
            }
        }
        return picks;
    }

    /** The same for one bucket each: windows one after the other, or what a full one takes. */
    static ArrayNode pickBuckets(Request request) throws Exception {
        var options = request.storeTable().coreOptions();
        Method pick =
                open(BucketedAppendCompactManager.class.getDeclaredMethod("pickCompactBefore"));
        ArrayNode picks = Values.JSON.arrayNode();
        for (JsonNode state : request.get("states")) {
            ArrayNode tasks = picks.addArray();
            List<DataFileMeta> files = files(state);
            if (request.flag("full", false)) {
                if (files.size() >= 3) { // what the manager asks before it starts a task
                    names(tasks.addArray(), full(files, options.targetFileSize(false)));
                }
                continue;
            }
            var manager =
                    new BucketedAppendCompactManager(
                            null,
                            files,
                            null,
                            options.compactionMinFileNum(),
                            options.targetFileSize(false),
                            false,
                            null,
                            null);
            while (true) {
                var picked = (Optional<?>) pick.invoke(manager);
                if (picked.isEmpty()) {
                    break;
                }
                names(tasks.addArray(), (List<?>) picked.get());
            }
        }
        return picks;
    }

    /** {@code states [[[name, size, level], ...], ...], full}: output level and names, or null. */
    static ArrayNode pickClusters(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        var options = table.coreOptions();
        var strategy =
                new IncrementalClusterStrategy(
                        table.schemaManager(),
                        options.clusteringColumns(),
                        options.maxSizeAmplificationPercent(),
                        options.sortedRunSizeRatio(),
                        options.numSortedRunCompactionTrigger());
        ArrayNode picks = Values.JSON.arrayNode();
        for (JsonNode state : request.get("states")) {
            List<DataFileMeta> files = new ArrayList<>();
            for (JsonNode file : state) {
                int level = file.get(2).asInt();
                files.add(level == 0 ? file(file, 0) : file(file, 0).upgrade(level));
            }
            var unit =
                    strategy.pick(
                            options.numLevels(),
                            IncrementalClusterManager.constructPartitionLevels(files),
                            request.flag("full", false));
            if (unit.isEmpty()) {
                picks.addNull();
                continue;
            }
            ArrayNode pick = picks.addArray();
            pick.add(unit.get().outputLevel());
            names(pick, unit.get().files());
        }
        return picks;
    }

    /** {@code points [[coordinate, ...], ...]}: their positions on the Hilbert curve, in hex. */
    static ArrayNode hilbert(Request request) {
        ArrayNode found = Values.JSON.arrayNode();
        for (JsonNode point : request.get("points")) {
            Long[] coordinates = new Long[point.size()];
            for (int i = 0; i < coordinates.length; i++) {
                coordinates[i] = point.get(i).asLong();
            }
            found.add(Values.hex(HilbertIndexer.hilbertCurvePosBytes(coordinates)));
        }
        return found;
    }

    /** {@code rows [[column in hex, ...], ...]}: the bits of the columns in turn, in hex. */
    static ArrayNode zorder(Request request) {
        ArrayNode found = Values.JSON.arrayNode();
        for (JsonNode row : request.get("rows")) {
            byte[][] columns = new byte[row.size()][];
            int size = 0;
            for (int i = 0; i < columns.length; i++) {
                columns[i] = new BigInteger("01" + row.get(i).asText(), 16).toByteArray();
                columns[i] = Arrays.copyOfRange(columns[i], 1, columns[i].length);
                size += columns[i].length;
            }
            found.add(Values.hex(ZOrderByteUtils.interleaveBits(columns, size)));
        }
        return found;
    }

    private static List<DataFileMeta> full(List<DataFileMeta> files, long target)
            throws Exception {
        List<DataFileMeta> rewritten = new ArrayList<>();
        var task =
                new BucketedAppendCompactManager.FullCompactTask(
                        null,
                        files,
                        target,
                        false,
                        before -> {
                            rewritten.addAll(before);
                            return List.of();
                        },
                        null);
        open(task.getClass().getDeclaredMethod("doCompact")).invoke(task);
        return rewritten;
    }

    private static List<DataFileMeta> files(JsonNode state) {
        List<DataFileMeta> files = new ArrayList<>();
        for (JsonNode file : state) {
            files.add(file(file, file.get(2).asLong()));
        }
        return files;
    }

    private static DataFileMeta file(JsonNode drawing, long firstSequenceNumber) {
        return DataFileMeta.forAppend(
                drawing.get(0).asText(),
                drawing.get(1).asLong(),
                10,
                SimpleStats.EMPTY_STATS,
                firstSequenceNumber,
                firstSequenceNumber + 9,
                0,
                List.of(),
                null,
                FileSource.APPEND,
                null,
                null,
                null,
                null);
    }

    private static void names(ArrayNode into, List<?> files) {
        files.forEach(file -> into.add(((DataFileMeta) file).fileName()));
    }

    private static Method open(Method method) {
        method.setAccessible(true);
        return method;
    }
}
