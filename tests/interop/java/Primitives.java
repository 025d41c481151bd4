import org.apache.paimon.casting.CastExecutor;
import org.apache.paimon.casting.CastExecutors;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.serializer.InternalRowSerializer;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.TableWriteImpl;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.SerializationUtils;

/** The format's bytes and numbers: rows, hashes, buckets, casts. */
final class Primitives {
    private Primitives() {}

    /** {@code types, rows}: the bytes and the hash of each row. */
    static ArrayNode binaryRows(Request request) {
        RowType type = Definitions.rowType(request.get("types"));
        InternalRowSerializer serializer = new InternalRowSerializer(type);
        ArrayNode found = Values.JSON.arrayNode();
        for (JsonNode row : request.get("rows")) {
            BinaryRow binary = serializer.toBinaryRow(Values.kindAndRow(row, type));
            ObjectNode shown = found.addObject();
            shown.put("bytes", Values.hex(SerializationUtils.serializeBinaryRow(binary)));
            shown.put("hash", binary.hashCode());
        }
        return found;
    }

    /** {@code rows}: the bucket each would be written to, and its serialised partition. */
    static ArrayNode buckets(Request request) throws Exception {
        FileStoreTable table = request.storeTable();
        ArrayNode found = Values.JSON.arrayNode();
        try (TableWriteImpl<?> write = table.newWrite("buckets")) {
            for (JsonNode json : request.get("rows")) {
                GenericRow row = Values.kindAndRow(json, table.rowType());
                BinaryRow partition = write.getPartition(row);
                found.addArray()
                        .add(Values.hex(SerializationUtils.serializeBinaryRow(partition)))
                        .add(write.getBucket(row));
            }
        }
        return found;
    }

    /** {@code from, to, values}: each value cast, or {@code {"error": ...}}. */
    @SuppressWarnings("unchecked")
    static ArrayNode cast(Request request) {
        DataType from = Definitions.type(request.get("from"));
        DataType to = Definitions.type(request.get("to"));
        var executor = (CastExecutor<Object, Object>) CastExecutors.resolve(from, to);
        ArrayNode found = Values.JSON.arrayNode();
        for (JsonNode value : request.get("values")) {
            try {
                found.add(Values.toJson(executor.cast(Values.fromJson(value, from)), to));
            } catch (RuntimeException error) {
                found.addObject().put("error", error.toString());
            }
        }
        return found;
    }
}
