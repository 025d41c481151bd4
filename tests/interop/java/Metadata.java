import static org.apache.paimon.utils.SerializationUtils.serializeBinaryRow;

import org.apache.paimon.data.BinaryArray;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.manifest.ManifestFileMeta;
import org.apache.paimon.schema.TableSchema;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.types.RowType;

/** What Java sees in manifests. */
final class Metadata {
    private Metadata() {}

    /** {@code file}: the name of a manifest list. */
    static ArrayNode manifestList(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        RowType partition = table.schema().logicalPartitionType();
        ArrayNode found = Values.JSON.arrayNode();
        for (ManifestFileMeta meta : table.manifestListReader().read(request.text("file"))) {
            ObjectNode manifest = found.addObject();
            manifest.put("file", meta.fileName()).put("size", meta.fileSize());
            manifest.put("added", meta.numAddedFiles()).put("deleted", meta.numDeletedFiles());
            manifest.put("schema", meta.schemaId());
            manifest.set("partitionStats", stats(meta.partitionStats(), partition));
        }
        return found;
    }

    /** {@code file}: the name of a manifest. */
    static ArrayNode manifest(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        return entries(table.manifestFileReader().read(request.text("file")), table);
    }

    /** Every live file of a snapshot; by default the latest. */
    static ArrayNode files(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        var scan = table.store().newScan();
        if (request.has("snapshot")) {
            scan.withSnapshot(request.get("snapshot").asLong());
        }
        return entries(scan.plan().files(), table);
    }

    private static ArrayNode entries(Iterable<ManifestEntry> entries, FileStoreTable table) {
        ArrayNode found = Values.JSON.arrayNode();
        for (ManifestEntry entry : entries) {
            ObjectNode shown = found.addObject();
            shown.put("kind", entry.kind().toString());
            shown.set("partition", row(entry.partition(), table.schema().logicalPartitionType()));
            shown.put("bucket", entry.bucket()).put("totalBuckets", entry.totalBuckets());
            shown.set("file", file(entry.file(), table));
        }
        return found;
    }

    private static ObjectNode file(DataFileMeta file, FileStoreTable table) {
        TableSchema schema = table.schemaManager().schema(file.schemaId());
        RowType keys = new RowType(schema.trimmedPrimaryKeysFields());
        RowType values = schema.logicalRowType();
        if (file.valueStatsCols() != null) {
            values = values.project(file.valueStatsCols());
        }
        ObjectNode shown = Values.object();
        shown.put("name", file.fileName()).put("size", file.fileSize());
        shown.put("rows", file.rowCount()).put("level", file.level());
        shown.put("schema", file.schemaId());
        shown.put("minSeq", file.minSequenceNumber()).put("maxSeq", file.maxSequenceNumber());
        file.deleteRowCount().ifPresent(count -> shown.put("deleteRows", count));
        file.fileSource().ifPresent(source -> shown.put("source", source.toString()));
        shown.set("minKey", row(file.minKey(), keys));
        shown.set("maxKey", row(file.maxKey(), keys));
        shown.set("keyStats", stats(file.keyStats(), keys));
        shown.set("valueStats", stats(file.valueStats(), values));
        return shown;
    }

    private static ObjectNode stats(SimpleStats stats, RowType type) {
        ObjectNode shown = Values.object();
        shown.put("min_hex", Values.hex(serializeBinaryRow(stats.minValues())));
        shown.put("max_hex", Values.hex(serializeBinaryRow(stats.maxValues())));
        shown.set("min", row(stats.minValues(), type));
        shown.set("max", row(stats.maxValues(), type));
        ArrayNode counts = shown.putArray("null_counts");
        BinaryArray nulls = stats.nullCounts();
        for (int i = 0; i < nulls.size(); i++) {
            counts.add(nulls.isNullAt(i) ? null : nulls.getLong(i));
        }
        return shown;
    }

    private static JsonNode row(BinaryRow row, RowType type) {
        if (row.getFieldCount() != type.getFieldCount()) {
            return Values.JSON.textNode(Values.hex(serializeBinaryRow(row)));
        }
        return Values.rowToJson(row, type);
    }
}
