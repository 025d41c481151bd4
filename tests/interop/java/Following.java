import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.source.EndOfScanException;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.SnapshotNotExistPlan;
import org.apache.paimon.table.source.StreamTableScan;
import org.apache.paimon.table.source.TableRead;
import org.apache.paimon.table.source.TableScan;
import org.apache.paimon.table.source.snapshot.SnapshotReader;
import org.apache.paimon.types.RowType;

/** Streams. */
final class Following {
    private Following() {}

    /**
     * {@code options, from, plans}: what a stream reads until it would wait, or of so many plans;
     * {@code {"ended", "next", "plans": [{"snapshot", "watermark", "rows": [[kind, [values]]]}]}}.
     */
    static ObjectNode follow(Request request) throws Exception {
        Table table = request.table();
        ReadBuilder builder = table.newReadBuilder();
        StreamTableScan scan = builder.newStreamScan();
        if (request.has("from")) {
            scan.restore(request.get("from").asLong());
        }
        int most = request.has("plans") ? request.get("plans").asInt() : Integer.MAX_VALUE;
        ArrayNode plans = Values.JSON.arrayNode();
        ObjectNode result = Values.object().put("ended", false);
        // The first plan may only find out where to start.
        for (int waits = 0; waits < 2 && plans.size() < most; ) {
            TableScan.Plan plan;
            try {
                plan = scan.plan();
            } catch (EndOfScanException end) {
                result.put("ended", true);
                break;
            }
            if (plan == SnapshotNotExistPlan.INSTANCE) {
                waits++;
            } else if (!plan.splits().isEmpty()) {
                plans.add(read(builder, (SnapshotReader.Plan) plan));
            }
        }
        scan.notifyCheckpointComplete(scan.checkpoint());
        result.put("next", scan.checkpoint());
        result.set("plans", plans);
        return result;
    }

    private static ObjectNode read(ReadBuilder builder, SnapshotReader.Plan plan) throws Exception {
        RowType type = builder.readType();
        ArrayNode rows = Values.JSON.arrayNode();
        try (IOManager files = Writing.ioManager()) {
            TableRead read = builder.newRead().withIOManager(files);
            try (RecordReader<InternalRow> reader = read.createReader(plan)) {
                reader.forEachRemaining(row -> rows.add(Values.kindAndRowToJson(row, type)));
            }
        }
        ObjectNode found = Values.object().put("snapshot", plan.snapshotId());
        found.put("watermark", plan.watermark());
        found.set("rows", rows);
        return found;
    }
}
