import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.paimon.CoreOptions;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.catalog.PropertyChange;
import org.apache.paimon.iceberg.IcebergOptions;
import org.apache.paimon.options.ConfigOption;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeJsonParser;
import org.apache.paimon.types.RowType;
import org.apache.paimon.view.View;
import org.apache.paimon.view.ViewImpl;

/** Tables made and altered. */
final class Definitions {
    private Definitions() {}

    /** Parse a type given as text or as the format's own JSON, where field ids may be missing. */
    static DataType type(JsonNode json) {
        JsonNode complete = json.deepCopy();
        addFieldIds(complete, new int[] {1_000_000}); // the table gives its own
        return DataTypeJsonParser.parseDataType(complete);
    }

    /** Keys of the options of tables: {@code [[key, keys that it had earlier], ...]}. */
    static Object options(Request request) throws Exception {
        ArrayNode found = Values.JSON.arrayNode();
        for (Class<?> declaring : List.of(CoreOptions.class, IcebergOptions.class)) {
            for (Field field : declaring.getFields()) {
                if (field.getType() == ConfigOption.class) {
                    ConfigOption<?> option = (ConfigOption<?>) field.get(null);
                    ArrayNode earlier = found.addArray().add(option.key()).addArray();
                    option.fallbackKeys().forEach(one -> earlier.add(one.getKey()));
                }
            }
        }
        return found;
    }

    private static void addFieldIds(JsonNode json, int[] next) {
        if (json.has("fields")) {
            for (JsonNode field : json.get("fields")) {
                ((ObjectNode) field).put("id", next[0]++);
            }
        }
        json.forEach(child -> addFieldIds(child, next));
    }

    static RowType rowType(JsonNode types) {
        List<DataType> found = new ArrayList<>();
        types.forEach(each -> found.add(type(each)));
        return RowType.of(found.toArray(new DataType[0]));
    }

    /** {@code fields [[name, type], ...], pk, partition, options, comment}. */
    static Object createTable(Request request) throws Exception {
        Catalog catalog = request.catalog();
        catalog.createDatabase(request.identifier().getDatabaseName(), true);
        Schema.Builder schema = Schema.newBuilder();
        for (JsonNode field : request.get("fields")) {
            schema.column(field.get(0).asText(), type(field.get(1)));
        }
        schema.primaryKey(request.texts("pk")).partitionKeys(request.texts("partition"));
        schema.options(request.map("options"));
        schema.comment(request.text("comment", null));
        catalog.createTable(request.identifier(), schema.build(), false);
        return null;
    }

    /** {@code table, target}. */
    static Object renameTable(Request request) throws Exception {
        Identifier target = Identifier.fromString(request.text("target"));
        request.catalog().renameTable(request.identifier(), target, false);
        return null;
    }

    /** {@code database}. */
    static Object tables(Request request) throws Exception {
        return request.catalog().listTables(request.text("database"));
    }

    /** {@code fields [[name, type], ...], query, options, comment}. */
    static Object createView(Request request) throws Exception {
        List<DataField> fields = new ArrayList<>();
        for (JsonNode field : request.get("fields")) {
            fields.add(new DataField(fields.size(), field.get(0).asText(), type(field.get(1))));
        }
        View view =
                new ViewImpl(
                        request.identifier(),
                        fields,
                        request.text("query"),
                        Map.of(),
                        request.text("comment", null),
                        request.map("options"));
        request.catalog().createView(request.identifier(), view, false);
        return null;
    }

    /** The query, comment and options of a view. */
    static Object view(Request request) throws Exception {
        View view = request.catalog().getView(request.identifier());
        return List.of(view.query(), view.comment().orElse(""), view.options());
    }

    /** {@code database, options}. */
    static Object createDatabase(Request request) throws Exception {
        request.catalog().createDatabase(request.text("database"), false, request.map("options"));
        return null;
    }

    /** {@code database, set, remove}. */
    static Object alterDatabase(Request request) throws Exception {
        List<PropertyChange> changes = new ArrayList<>();
        request.map("set").forEach((key, value) -> changes.add(PropertyChange.setProperty(key, value)));
        request.texts("remove").forEach(key -> changes.add(PropertyChange.removeProperty(key)));
        request.catalog().alterDatabase(request.text("database"), changes, false);
        return null;
    }

    /** {@code database}. */
    static Object databaseOptions(Request request) throws Exception {
        return request.catalog().getDatabase(request.text("database")).options();
    }

    /** {@code changes [["rename", "a", "b"], ...]}; a column may be a path, {@code ["r", "x"]}. */
    static Object alterTable(Request request) throws Exception {
        List<SchemaChange> changes = new ArrayList<>();
        request.get("changes").forEach(change -> changes.add(change(change)));
        request.catalog().alterTable(request.identifier(), changes, false);
        return null;
    }

    private static SchemaChange change(JsonNode json) {
        JsonNode first = json.get(1);
        JsonNode second = json.get(2);
        return switch (json.get(0).asText()) {
            case "set" -> SchemaChange.setOption(first.asText(), second.asText());
            case "unset" -> SchemaChange.removeOption(first.asText());
            case "comment" -> SchemaChange.updateComment(first.asText());
            case "add" -> SchemaChange.addColumn(path(first), type(second), null, move(json));
            case "rename" -> SchemaChange.renameColumn(path(first), second.asText());
            case "drop" -> SchemaChange.dropColumn(path(first));
            case "type" -> SchemaChange.updateColumnType(path(first), type(second), false);
            case "nullable" ->
                SchemaChange.updateColumnNullability(path(first), second.asBoolean());
            case "default" -> SchemaChange.updateColumnDefaultValue(path(first), second.asText());
            default -> throw new IllegalArgumentException("no change " + json);
        };
    }

    /** {@code ["add", name, type, ["first"]]} or {@code [..., ["after", other]]}. */
    private static SchemaChange.Move move(JsonNode json) {
        if (json.size() < 4) {
            return null;
        }
        String[] names = path(json.get(1));
        String name = names[names.length - 1];
        JsonNode where = json.get(3);
        return where.get(0).asText().equals("first")
                ? SchemaChange.Move.first(name)
                : SchemaChange.Move.after(name, where.get(1).asText());
    }

    private static String[] path(JsonNode column) {
        return column.isArray()
                ? Request.texts(column).toArray(new String[0])
                : new String[] {column.asText()};
    }
}
