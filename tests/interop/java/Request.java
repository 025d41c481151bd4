import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.CatalogFactory;
import org.apache.paimon.catalog.FileSystemCatalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.fs.Path;
import org.apache.paimon.options.Options;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.Table;

/** One command: its arguments by name, and the catalog and table they name. */
final class Request {
    private static final Map<String, Catalog> CATALOGS = new ConcurrentHashMap<>();

    final JsonNode json;

    Request(JsonNode json) {
        this.json = json;
    }

    boolean has(String name) {
        return json.hasNonNull(name);
    }

    JsonNode get(String name) {
        if (!has(name)) {
            throw new IllegalArgumentException(text("op") + " needs the argument " + name);
        }
        return json.get(name);
    }

    String text(String name) {
        return get(name).asText();
    }

    String text(String name, String otherwise) {
        return has(name) ? text(name) : otherwise;
    }

    boolean flag(String name, boolean otherwise) {
        return has(name) ? get(name).asBoolean() : otherwise;
    }

    List<String> texts(String name) {
        return has(name) ? texts(get(name)) : List.of();
    }

    static List<String> texts(JsonNode array) {
        List<String> found = new ArrayList<>();
        array.forEach(item -> found.add(item.asText()));
        return found;
    }

    /** Texts by name; a null stays a null, as a partition's value may be one. */
    Map<String, String> map(String name) {
        Map<String, String> found = new LinkedHashMap<>();
        if (has(name)) {
            get(name).fields().forEachRemaining(
                    entry -> found.put(
                            entry.getKey(),
                            entry.getValue().isNull() ? null : entry.getValue().asText()));
        }
        return found;
    }

    /** The catalog of {@code warehouse}, or the one that {@code catalog}, its options, names. */
    Catalog catalog() {
        if (has("catalog")) {
            return CATALOGS.computeIfAbsent(
                    get("catalog").toString(),
                    key -> CatalogFactory.createCatalog(
                            CatalogContext.create(Options.fromMap(map("catalog")))));
        }
        return CATALOGS.computeIfAbsent( // without a cache: another process writes the same tables
                text("warehouse"),
                path -> new FileSystemCatalog(new BufferedFileIO(), new Path(path)));
    }

    Identifier identifier() {
        return Identifier.fromString(text("table"));
    }

    /** The table, with {@code options} put on top of its own. */
    Table table() throws Exception {
        Table table = catalog().getTable(identifier());
        return has("options") ? table.copy(map("options")) : table;
    }

    FileStoreTable storeTable() throws Exception {
        return (FileStoreTable) table();
    }
}
