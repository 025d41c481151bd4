import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.paimon.Snapshot;
import org.apache.paimon.consumer.ConsumerManager;
import org.apache.paimon.manifest.PartitionEntry;
import org.apache.paimon.operation.PartitionExpire;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.TagTimeExpire;
import org.apache.paimon.utils.DateTimeUtils;
import org.apache.paimon.utils.ParameterUtils;
import org.apache.paimon.utils.ProcedureUtils;
import org.apache.paimon.utils.TimeUtils;

/** The calls of the core that procedures of the connector for Spark make, and what they return. */
final class Procedures {
    private Procedures() {}

    /** {@code retain_max, retain_min, older_than, max_deletes, with}: how many went. */
    static Integer expireSnapshots(Request request) throws Exception {
        HashMap<String, String> options = new HashMap<>();
        ProcedureUtils.putAllOptions(options, request.text("with", null));
        FileStoreTable table = request.storeTable().copy(options);
        return table.newExpireSnapshots()
                .config(
                        ProcedureUtils.fillInSnapshotOptions(
                                        table.store().options(),
                                        number(request, "retain_max"),
                                        number(request, "retain_min"),
                                        request.text("older_than", null),
                                        number(request, "max_deletes"))
                                .build())
                .expire();
    }

    /** {@code expiration_time, expire_strategy, max_expires, with}: texts of those that went. */
    static List<String> expirePartitions(Request request) throws Exception {
        Map<String, String> options =
                ProcedureUtils.fillInPartitionOptions(
                        request.text("expire_strategy", null),
                        request.text("timestamp_formatter", null),
                        request.text("timestamp_pattern", null),
                        request.text("expiration_time", null),
                        number(request, "max_expires"),
                        request.text("with", null));
        FileStoreTable table = request.storeTable().copy(options);
        PartitionExpire expire = table.store().newPartitionExpire("", table);
        List<Map<String, String>> expired = expire.expire(Long.MAX_VALUE);
        List<String> found = new ArrayList<>();
        for (Map<String, String> partition : expired == null ? List.<Map<String, String>>of() : expired) {
            String text = partition.toString();
            found.add(text.substring(1, text.length() - 1));
        }
        return found;
    }

    /** {@code older_than}: names of the tags that went. */
    static List<String> expireTags(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        TagTimeExpire expire = table.store().newTagAutoManager(table).getTagTimeExpire();
        if (request.has("older_than")) {
            LocalDateTime time =
                    DateTimeUtils.parseTimestampData(
                                    request.text("older_than"), 3, TimeZone.getDefault())
                            .toLocalDateTime();
            expire.withOlderThanTime(time);
        }
        return expire.expire();
    }

    /** {@code timestamp}: the snapshot that a tag made from this time is of. */
    static Long snapshotFromTime(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        long time = request.get("timestamp").asLong();
        Snapshot found = table.snapshotManager().laterOrEqualTimeMills(time);
        for (Snapshot tagged : table.tagManager().tags().keySet()) {
            if (time <= tagged.timeMillis()) {
                if (found == null || tagged.timeMillis() < found.timeMillis()) {
                    found = tagged;
                }
                break;
            }
        }
        return found == null ? null : found.id();
    }

    /** {@code watermark}: the snapshot that a table goes back to. */
    static Long snapshotAtWatermark(Request request) throws Exception {
        Snapshot found =
                request.storeTable()
                        .snapshotManager()
                        .earlierOrEqualWatermark(request.get("watermark").asLong());
        return found == null ? null : found.id();
    }

    /** When the newest file of each partition was made, by the partition's only value. */
    static Map<String, Long> newestFiles(Request request) throws Exception {
        Map<String, Long> found = new TreeMap<>();
        for (PartitionEntry entry : request.storeTable().newSnapshotReader().partitionEntries()) {
            found.put(entry.partition().getString(0).toString(), entry.lastFileCreationTime());
        }
        return found;
    }

    /** {@code tag, snapshot, time_retained}: create, or replace if {@code replaces}. */
    static Object putTag(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        String name = request.text("tag");
        Long snapshot = request.has("snapshot") ? request.get("snapshot").asLong() : null;
        Duration life =
                request.has("time_retained")
                        ? TimeUtils.parseDuration(request.text("time_retained"))
                        : null;
        if (request.flag("replaces", false)) {
            table.replaceTag(name, snapshot, life);
        } else if (snapshot == null) {
            table.createTag(name, life);
        } else {
            table.createTag(name, snapshot, life);
        }
        return null;
    }

    /** {@code tags}, with commas between. */
    static Object deleteTags(Request request) throws Exception {
        request.storeTable().deleteTags(request.text("tags"));
        return null;
    }

    /** {@code including, excluding}. */
    static Object clearConsumers(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        ConsumerManager consumers =
                new ConsumerManager(
                        table.fileIO(), table.location(), table.snapshotManager().branch());
        consumers.clearConsumers(
                Pattern.compile(request.text("including", ".*")),
                request.has("excluding") ? Pattern.compile(request.text("excluding")) : null);
        return null;
    }

    static Object compactManifests(Request request) throws Exception {
        try (var commit = request.storeTable().newBatchWriteBuilder().newCommit()) {
            commit.compactManifests();
        }
        return null;
    }

    /** {@code kind, texts}: what each means, or null if it is refused. */
    static List<Object> readTexts(Request request) {
        List<Object> found = new ArrayList<>();
        for (String text : request.texts("texts")) {
            Object value;
            try {
                value = readText(request.text("kind"), text);
            } catch (RuntimeException refused) {
                value = null;
            }
            found.add(value);
        }
        return found;
    }

    private static Object readText(String kind, String text) {
        switch (kind) {
            case "time":
                return DateTimeUtils.parseTimestampData(text, 3, TimeZone.getDefault())
                        .getMillisecond();
            case "duration":
                return TimeUtils.parseDuration(text).toMillis();
            case "pairs":
                return ParameterUtils.parseCommaSeparatedKeyValues(text);
            case "partitions":
                return ParameterUtils.getPartitions(text.split(";"));
            default:
                throw new IllegalStateException(kind);
        }
    }

    private static Integer number(Request request, String name) {
        return request.has(name) ? request.get(name).asInt() : null;
    }
}
