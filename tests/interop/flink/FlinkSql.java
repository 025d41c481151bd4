import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Runs statements of SQL in a Flink of this JVM: a line of JSON each, {"sql", "streams", "rows"},
 * answered by a line {"rows"} or {"error"}. Objects of the session are in both modes.
 */
public final class FlinkSql {
    private static final ObjectMapper JSON = new ObjectMapper();

    private FlinkSql() {}

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        TableEnvironment batch = environment(EnvironmentSettings.newInstance().inBatchMode());
        TableEnvironment streaming =
                environment(EnvironmentSettings.newInstance().inStreamingMode());
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        answers.println("{\"ready\": true}");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode asked = JSON.readTree(line);
            Map<String, Object> answer = new HashMap<>();
            try {
                String sql = asked.get("sql").asText();
                if (sql.matches("(?is)(CREATE\\s+CATALOG|USE)\\b.*")) {
                    streaming.executeSql(sql);
                }
                boolean streams = asked.get("streams").asBoolean();
                TableResult result = (streams ? streaming : batch).executeSql(sql);
                // What changes rows was waited for, and its cluster has ended.
                boolean asks = !sql.matches("(?is)(INSERT|UPDATE|DELETE|TRUNCATE)\\b.*");
                answer.put("rows", asks ? rows(result, asked.get("rows").asInt()) : List.of());
            } catch (Throwable problem) {
                answer.put("error", said(problem));
            }
            answers.println(JSON.writeValueAsString(answer));
        }
        System.exit(0);
    }

    private static TableEnvironment environment(EnvironmentSettings.Builder settings) {
        Configuration told = new Configuration();
        told.setString("parallelism.default", "1");
        told.setString("execution.checkpointing.interval", "1s");
        told.setString("restart-strategy.type", "none");
        told.setString("rest.bind-address", "127.0.0.1");
        told.setString("rest.address", "127.0.0.1");
        told.setString("rest.bind-port", "0");
        told.setString("table.local-time-zone", "UTC");
        told.setString("table.dml-sync", "true");
        told.setString("table.exec.sink.upsert-materialize", "NONE");
        told.setString("taskmanager.memory.network.min", "64m");
        told.setString("taskmanager.memory.network.max", "64m");
        told.setString("taskmanager.memory.managed.size", "128m");
        return TableEnvironment.create(settings.withConfiguration(told).build());
    }

    private static List<Object> rows(TableResult result, int most) throws Exception {
        List<Object> found = new ArrayList<>();
        try (CloseableIterator<Row> rows = result.collect()) {
            while (found.size() < most && rows.hasNext()) {
                Row row = rows.next();
                List<Object> values = new ArrayList<>();
                values.add(row.getKind().shortString());
                for (int place = 0; place < row.getArity(); place++) {
                    values.add(plain(row.getField(place)));
                }
                found.add(values);
            }
        }
        return found;
    }

    private static Object plain(Object value) {
        if (value == null || value instanceof Boolean || value instanceof String) {
            return value;
        }
        if (value instanceof Byte || value instanceof Short || value instanceof Integer) {
            return value;
        }
        if (value instanceof Long || value instanceof Float || value instanceof Double) {
            return value;
        }
        if (value instanceof byte[] bytes) {
            return HexFormat.of().formatHex(bytes);
        }
        List<Object> parts = new ArrayList<>();
        if (value.getClass().isArray()) {
            for (int place = 0; place < Array.getLength(value); place++) {
                parts.add(plain(Array.get(value, place)));
            }
            return parts;
        }
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, item) -> {
                List<Object> pair = new ArrayList<>();
                pair.add(plain(key));
                pair.add(plain(item));
                parts.add(pair);
            });
            return parts;
        }
        if (value instanceof Row row) {
            for (int place = 0; place < row.getArity(); place++) {
                parts.add(plain(row.getField(place)));
            }
            return parts;
        }
        return value.toString();
    }

    private static String said(Throwable problem) {
        StringBuilder text = new StringBuilder();
        for (Throwable one = problem; one != null; one = one.getCause()) {
            text.append(text.length() == 0 ? "" : " <- ").append(one);
        }
        return text.toString();
    }
}
