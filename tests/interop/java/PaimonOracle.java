import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.paimon.Snapshot;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.TableRead;
import org.apache.paimon.types.RowType;

/**
 * Answers commands with what Apache Paimon's Java core does.
 *
 * <p>A command is one line of JSON on standard input, {@code {"op": "read", "warehouse": ...,
 * "table": "db.t"}}; the reply is one line on standard output, {@code {"ok": true, "result": ...}}
 * or {@code {"ok": false, "error": ..., "cause": ..., "stack": ...}}.
 */
public final class PaimonOracle {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Returns what Jackson can show, or a JSON node. */
    private interface Command {
        Object run(Request request) throws Exception;
    }

    private static final Map<String, Command> COMMANDS = new TreeMap<>();

    static {
        COMMANDS.put("version", request -> Snapshot.class.getPackage().getImplementationVersion());
        COMMANDS.put("options", Definitions::options);
        COMMANDS.put("create_table", Definitions::createTable);
        COMMANDS.put("alter_table", Definitions::alterTable);
        COMMANDS.put("drop_table", PaimonOracle::dropTable);
        COMMANDS.put("rename_table", Definitions::renameTable);
        COMMANDS.put("databases", request -> request.catalog().listDatabases());
        COMMANDS.put("tables", Definitions::tables);
        COMMANDS.put("create_database", Definitions::createDatabase);
        COMMANDS.put("alter_database", Definitions::alterDatabase);
        COMMANDS.put("database_options", Definitions::databaseOptions);
        COMMANDS.put("create_view", Definitions::createView);
        COMMANDS.put("view", Definitions::view);
        COMMANDS.put("schema", request -> MAPPER.readTree(request.storeTable().schema().toString()));
        COMMANDS.put("write", Writing::write);
        COMMANDS.put("import_folders", Importing::folders);
        COMMANDS.put("compact", Writing::compact);
        COMMANDS.put("pick_append_partitions", Compacting::pickPartitions);
        COMMANDS.put("pick_append_buckets", Compacting::pickBuckets);
        COMMANDS.put("pick_clusters", Compacting::pickClusters);
        COMMANDS.put("hilbert", Compacting::hilbert);
        COMMANDS.put("zorder", Compacting::zorder);
        COMMANDS.put("append_delete", Deletions::delete);
        COMMANDS.put("deletion_vector", Deletions::vector);
        COMMANDS.put("compact_postponed", Postponed::compact);
        COMMANDS.put("rescale", Rescaling::rescale);
        COMMANDS.put("replay_compactions", Compactions::replay);
        COMMANDS.put("drop_partition", Writing::dropPartition);
        COMMANDS.put("tag", History::tag);
        COMMANDS.put("tags", History::tags);
        COMMANDS.put("tag_lifetimes", History::tagLifetimes);
        COMMANDS.put("delete_tag", History::deleteTag);
        COMMANDS.put("create_branch", History::createBranch);
        COMMANDS.put("branches", History::branches);
        COMMANDS.put("delete_branch", History::deleteBranch);
        COMMANDS.put("fast_forward", History::fastForward);
        COMMANDS.put("rollback", History::rollback);
        COMMANDS.put("expire", History::expire);
        COMMANDS.put("expire_by_options", Upkeep::expireByOptions);
        COMMANDS.put("orphans", Upkeep::orphans);
        COMMANDS.put("expire_partitions", Upkeep::expirePartitions);
        COMMANDS.put("call_expire_snapshots", Procedures::expireSnapshots);
        COMMANDS.put("call_expire_partitions", Procedures::expirePartitions);
        COMMANDS.put("call_expire_tags", Procedures::expireTags);
        COMMANDS.put("call_put_tag", Procedures::putTag);
        COMMANDS.put("call_delete_tag", Procedures::deleteTags);
        COMMANDS.put("call_clear_consumers", Procedures::clearConsumers);
        COMMANDS.put("call_compact_manifest", Procedures::compactManifests);
        COMMANDS.put("newest_files", Procedures::newestFiles);
        COMMANDS.put("snapshot_from_time", Procedures::snapshotFromTime);
        COMMANDS.put("snapshot_at_watermark", Procedures::snapshotAtWatermark);
        COMMANDS.put("procedure_texts", Procedures::readTexts);
        COMMANDS.put("follow", Following::follow);
        COMMANDS.put("consumers", History::consumers);
        COMMANDS.put("reset_consumer", History::resetConsumer);
        COMMANDS.put("statistics", History::statistics);
        COMMANDS.put("read", PaimonOracle::read);
        COMMANDS.put("count", PaimonOracle::count);
        COMMANDS.put("snapshots", PaimonOracle::snapshots);
        COMMANDS.put("manifest_list", Metadata::manifestList);
        COMMANDS.put("manifest", Metadata::manifest);
        COMMANDS.put("files", Metadata::files);
        COMMANDS.put("binary_rows", Primitives::binaryRows);
        COMMANDS.put("buckets", Primitives::buckets);
        COMMANDS.put("cast", Primitives::cast);
    }

    private PaimonOracle() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream replies = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
        System.setOut(System.err); // what libraries print must not mix with replies
        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            replies.println(MAPPER.writeValueAsString(reply(line)));
        }
        System.exit(0);
    }

    private static ObjectNode reply(String line) {
        ObjectNode reply = Values.object();
        try {
            Request request = new Request(MAPPER.readTree(line));
            Command command = COMMANDS.get(request.text("op"));
            if (command == null) {
                throw new IllegalArgumentException("no command; there are " + COMMANDS.keySet());
            }
            reply.set("result", MAPPER.valueToTree(command.run(request)));
            return reply.put("ok", true);
        } catch (Throwable error) { // an AssertionError is an answer, too
            return failure(error);
        }
    }

    private static ObjectNode failure(Throwable error) {
        Throwable root = error;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        StringWriter stack = new StringWriter();
        error.printStackTrace(new PrintWriter(stack));
        return Values.object()
                .put("ok", false)
                .put("error", error.toString())
                .put("cause", root.toString())
                .put("stack", stack.toString());
    }

    private static Object dropTable(Request request) throws Exception {
        request.catalog().dropTable(request.identifier(), true);
        return null;
    }

    /** {@code options, filter, projection}: {@code [[kind, [values]], ...]}. */
    private static ArrayNode read(Request request) throws Exception {
        Table table = request.table();
        ReadBuilder builder = table.newReadBuilder();
        if (request.has("filter")) {
            builder.withFilter(Predicates.parse(request.get("filter"), table.rowType()));
        }
        if (request.has("projection")) {
            List<String> names = table.rowType().getFieldNames();
            builder.withProjection(
                    request.texts("projection").stream().mapToInt(names::indexOf).toArray());
        }
        RowType type = builder.readType();
        ArrayNode rows = Values.JSON.arrayNode();
        try (IOManager files = Writing.ioManager()) {
            TableRead read = builder.newRead().withIOManager(files);
            read = request.has("filter") ? read.executeFilter() : read;
            try (RecordReader<InternalRow> reader =
                    read.createReader(builder.newScan().plan().splits())) {
                reader.forEachRemaining(row -> rows.add(Values.kindAndRowToJson(row, type)));
            }
        }
        return rows;
    }

    /** Read every value of every row, and count the rows. */
    private static Long count(Request request) throws Exception {
        Table table = request.table();
        ReadBuilder builder = table.newReadBuilder();
        AtomicLong rows = new AtomicLong();
        try (RecordReader<InternalRow> reader =
                builder.newRead().createReader(builder.newScan().plan())) {
            reader.forEachRemaining(
                    row -> {
                        Values.rowToJson(row, table.rowType());
                        rows.incrementAndGet();
                    });
        }
        return rows.get();
    }

    private static ArrayNode snapshots(Request request) throws Exception {
        ArrayNode found = Values.JSON.arrayNode();
        var manager = request.storeTable().snapshotManager();
        List<Snapshot> snapshots = new ArrayList<>(manager.safelyGetAllSnapshots());
        snapshots.sort(Comparator.comparing(Snapshot::id));
        for (Snapshot snapshot : snapshots) {
            found.add(MAPPER.readTree(snapshot.toJson()));
        }
        return found;
    }
}
