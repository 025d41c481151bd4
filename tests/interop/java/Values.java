import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericArray;
import org.apache.paimon.data.GenericMap;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalMap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.data.variant.GenericVariant;
import org.apache.paimon.data.variant.Variant;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.InternalRowUtils;

/**
 * Values as JSON, both ways.
 *
 * <p>Numbers for BOOLEAN to DOUBLE (NaN and infinities as text); text for strings, decimals, dates
 * and times as java.time prints them; hex for binary; a list for ARRAY and ROW; a list of pairs for
 * MAP and MULTISET.
 */
final class Values {
    static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final long NANOS_PER_MILLI = 1_000_000L;

    private Values() {}

    static Object fromJson(JsonNode value, DataType type) {
        if (value == null || value.isNull()) {
            return null;
        }
        return switch (type.getTypeRoot()) {
            case BOOLEAN -> value.asBoolean();
            case TINYINT -> (byte) value.asInt();
            case SMALLINT -> (short) value.asInt();
            case INTEGER -> value.asInt();
            case BIGINT -> value.asLong();
            case FLOAT -> Float.parseFloat(value.asText());
            case DOUBLE -> Double.parseDouble(value.asText());
            case CHAR, VARCHAR -> BinaryString.fromString(value.asText());
            case BINARY, VARBINARY -> HexFormat.of().parseHex(value.asText());
            case DECIMAL -> decimal(value.asText(), (DecimalType) type);
            case DATE -> (int) LocalDate.parse(value.asText()).toEpochDay();
            case TIME_WITHOUT_TIME_ZONE ->
                (int) (LocalTime.parse(value.asText()).toNanoOfDay() / NANOS_PER_MILLI);
            case TIMESTAMP_WITHOUT_TIME_ZONE ->
                Timestamp.fromLocalDateTime(LocalDateTime.parse(value.asText()));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                Timestamp.fromInstant(Instant.parse(value.asText()));
            case ARRAY -> array(value, ((ArrayType) type).getElementType());
            case MAP, MULTISET -> map(value, keyType(type), valueType(type));
            case ROW -> row(value, (RowType) type, RowKind.INSERT);
            case VARIANT -> new GenericVariant(
                HexFormat.of().parseHex(value.get("value").asText()),
                HexFormat.of().parseHex(value.get("metadata").asText()));
            default -> throw new UnsupportedOperationException("no values of type " + type);
        };
    }

    private static Decimal decimal(String text, DecimalType type) {
        return Decimal.fromBigDecimal(new BigDecimal(text), type.getPrecision(), type.getScale());
    }

    private static GenericArray array(JsonNode items, DataType itemType) {
        Object[] found = new Object[items.size()];
        for (int i = 0; i < found.length; i++) {
            found[i] = fromJson(items.get(i), itemType);
        }
        return new GenericArray(found);
    }

    private static GenericMap map(JsonNode pairs, DataType keyType, DataType valueType) {
        Map<Object, Object> found = new LinkedHashMap<>();
        for (JsonNode pair : pairs) {
            found.put(fromJson(pair.get(0), keyType), fromJson(pair.get(1), valueType));
        }
        return new GenericMap(found);
    }

    private static GenericRow row(JsonNode values, RowType type, RowKind kind) {
        GenericRow found = new GenericRow(kind, type.getFieldCount());
        for (int i = 0; i < type.getFieldCount(); i++) {
            found.setField(i, fromJson(values.get(i), type.getTypeAt(i)));
        }
        return found;
    }

    /** Make a row of {@code [kind, [values]]}. */
    static GenericRow kindAndRow(JsonNode pair, RowType type) {
        return row(pair.get(1), type, RowKind.fromShortString(pair.get(0).asText()));
    }

    static JsonNode toJson(Object value, DataType type) {
        if (value == null) {
            return JSON.nullNode();
        }
        return switch (type.getTypeRoot()) {
            case BOOLEAN -> JSON.booleanNode((Boolean) value);
            case TINYINT -> JSON.numberNode((Byte) value);
            case SMALLINT -> JSON.numberNode((Short) value);
            case INTEGER -> JSON.numberNode((Integer) value);
            case BIGINT -> JSON.numberNode((Long) value);
            case FLOAT -> number((Float) value, Float.isFinite((Float) value));
            case DOUBLE -> number((Double) value, Double.isFinite((Double) value));
            case BINARY, VARBINARY -> JSON.textNode(hex((byte[]) value));
            case DECIMAL -> JSON.textNode(((Decimal) value).toBigDecimal().toPlainString());
            case DATE -> JSON.textNode(LocalDate.ofEpochDay((Integer) value).toString());
            case TIME_WITHOUT_TIME_ZONE ->
                JSON.textNode(LocalTime.ofNanoOfDay((Integer) value * NANOS_PER_MILLI).toString());
            case TIMESTAMP_WITHOUT_TIME_ZONE ->
                JSON.textNode(((Timestamp) value).toLocalDateTime().toString());
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                JSON.textNode(((Timestamp) value).toInstant().toString());
            case ARRAY -> arrayToJson((InternalArray) value, ((ArrayType) type).getElementType());
            case MAP, MULTISET -> mapToJson((InternalMap) value, keyType(type), valueType(type));
            case ROW -> rowToJson((InternalRow) value, (RowType) type);
            case VARIANT -> JSON.objectNode()
                .put("json", ((Variant) value).toJson())
                .put("metadata", hex(((Variant) value).metadata()))
                .put("value", hex(((Variant) value).value()));
            default -> JSON.textNode(value.toString());
        };
    }

    private static JsonNode number(Number value, boolean finite) {
        if (!finite) {
            return JSON.textNode(value.toString());
        }
        return value instanceof Float ? JSON.numberNode((Float) value) : JSON.numberNode((Double) value);
    }

    private static ArrayNode arrayToJson(InternalArray array, DataType itemType) {
        ArrayNode found = JSON.arrayNode();
        for (int i = 0; i < array.size(); i++) {
            found.add(toJson(InternalRowUtils.get(array, i, itemType), itemType));
        }
        return found;
    }

    private static ArrayNode mapToJson(InternalMap map, DataType keyType, DataType valueType) {
        ArrayNode keys = arrayToJson(map.keyArray(), keyType);
        ArrayNode values = arrayToJson(map.valueArray(), valueType);
        ArrayNode found = JSON.arrayNode();
        for (int i = 0; i < map.size(); i++) {
            found.add(JSON.arrayNode().add(keys.get(i)).add(values.get(i)));
        }
        return found;
    }

    static ArrayNode rowToJson(InternalRow row, RowType type) {
        ArrayNode found = JSON.arrayNode();
        for (int i = 0; i < type.getFieldCount(); i++) {
            DataType fieldType = type.getTypeAt(i);
            found.add(toJson(InternalRowUtils.get(row, i, fieldType), fieldType));
        }
        return found;
    }

    /** Show a row as {@code [kind, [values]]}. */
    static ArrayNode kindAndRowToJson(InternalRow row, RowType type) {
        return JSON.arrayNode().add(row.getRowKind().shortString()).add(rowToJson(row, type));
    }

    static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    static ObjectNode object() {
        return JSON.objectNode();
    }

    private static DataType keyType(DataType type) {
        return type instanceof MapType
                ? ((MapType) type).getKeyType()
                : ((MultisetType) type).getElementType();
    }

    private static DataType valueType(DataType type) {
        return type instanceof MapType ? ((MapType) type).getValueType() : DataTypes.INT();
    }
}
