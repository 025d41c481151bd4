package org.apache.iceberg.rest;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.exceptions.NotAuthorizedException;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.rest.requests.CreateNamespaceRequest;
import org.apache.iceberg.rest.requests.CreateTableRequest;
import org.apache.iceberg.rest.requests.RegisterTableRequest;
import org.apache.iceberg.rest.requests.UpdateTableRequest;
import org.apache.iceberg.rest.responses.ConfigResponse;
import org.apache.iceberg.rest.responses.ErrorResponse;
import org.apache.iceberg.rest.responses.OAuthTokenResponse;
import org.apache.iceberg.types.Types;

/**
 * Iceberg's own handlers of its REST protocol behind an HTTP server, over a catalog in SQLite whose
 * metadata files are in a folder. Arguments: the folder, and a token that clients must have.
 * Prints its address; ends with its standard input. What is not of the protocol: GET
 * /rows/NAMESPACE/TABLE[/SNAPSHOT or REFERENCE] are the rows that Iceberg's library reads through
 * the protocol, and DELETE /all empties the catalog.
 */
public class IcebergServer {
    private static final String CREDENTIAL = "client_id=me&client_secret=hidden";
    private final String folder;
    private final String token;
    private JdbcCatalog catalog;
    private int emptied;
    private RESTCatalog reader;

    private IcebergServer(String folder, String token) {
        this.folder = folder;
        this.token = token;
        empty();
    }

    public static void main(String[] arguments) throws Exception {
        IcebergServer answers = new IcebergServer(arguments[0], arguments[1]);
        InetAddress here = InetAddress.getByName("127.0.0.1");
        HttpServer server = HttpServer.create(new InetSocketAddress(here, 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", answers::answer);
        server.start();
        String address = "http://127.0.0.1:" + server.getAddress().getPort();
        answers.reader = new RESTCatalog();
        answers.reader.initialize(
                "reader",
                Map.of(
                        "uri", address,
                        "token", arguments[1],
                        "io-impl", "org.apache.iceberg.hadoop.HadoopFileIO"));
        System.out.println(address);
        System.out.flush();
        while (System.in.read() >= 0) {}
        server.stop(0);
        System.exit(0);
    }

    private synchronized void empty() {
        if (catalog != null) {
            catalog.close();
        }
        catalog = new JdbcCatalog();
        Map<String, String> properties = new HashMap<>();
        properties.put("uri", "jdbc:sqlite:" + folder + "/catalog" + emptied++);
        properties.put("clients", "1"); // SQLite takes one change at a time
        properties.put("warehouse", folder);
        properties.put("io-impl", "org.apache.iceberg.hadoop.HadoopFileIO");
        catalog.initialize("tests", properties);
    }

    private void answer(HttpExchange exchange) {
        int status = 200;
        Object answer;
        try {
            answer = answerOf(exchange);
        } catch (Exception | LinkageError error) {
            status = statusOf(error);
            answer =
                    ErrorResponse.builder()
                            .responseCode(status)
                            .withType(error.getClass().getSimpleName())
                            .withMessage(String.valueOf(error.getMessage()))
                            .build();
            if (status == 500) {
                error.printStackTrace();
            }
        }
        try (exchange) {
            if (answer == null) {
                exchange.sendResponseHeaders(204, -1);
                return;
            }
            byte[] data = RESTObjectMapper.mapper().writeValueAsBytes(answer);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(status, data.length);
            exchange.getResponseBody().write(data);
        } catch (Exception error) {
            error.printStackTrace();
        }
    }

    private static int statusOf(Throwable error) {
        if (error instanceof NoSuchTableException || error instanceof NoSuchNamespaceException) {
            return 404;
        }
        if (error instanceof AlreadyExistsException || error instanceof CommitFailedException) {
            return 409;
        }
        if (error instanceof NotAuthorizedException) {
            return 401;
        }
        boolean isBad =
                error instanceof ValidationException || error instanceof IllegalArgumentException;
        return isBad ? 400 : error instanceof UnsupportedOperationException ? 406 : 500;
    }

    private Object answerOf(HttpExchange exchange) throws Exception {
        byte[] body = exchange.getRequestBody().readAllBytes();
        String method = exchange.getRequestMethod();
        List<String> path = new ArrayList<>();
        for (String part : exchange.getRequestURI().getRawPath().substring(1).split("/")) {
            path.add(URLDecoder.decode(part, StandardCharsets.UTF_8));
        }
        if (path.get(0).equals("all")) {
            empty();
            return null;
        }
        if (path.get(0).equals("rows")) {
            return rows(path);
        }
        if (path.equals(Arrays.asList("v1", "oauth", "tokens"))) {
            return tokenFor(new String(body, StandardCharsets.UTF_8));
        }
        if (path.get(1).equals("config")) {
            return ConfigResponse.builder().build();
        }
        String who = exchange.getRequestHeaders().getFirst("Authorization");
        if (!("Bearer " + token).equals(who)) {
            throw new NotAuthorizedException("who are you?");
        }
        return resource(method, path.subList(1, path.size()), body);
    }

    private Object tokenFor(String form) {
        if (!form.contains(CREDENTIAL)) {
            throw new NotAuthorizedException("unknown client");
        }
        return OAuthTokenResponse.builder()
                .withToken(token)
                .withTokenType("bearer")
                .setExpirationInSeconds(60)
                .build();
    }

    private Object resource(String method, List<String> path, byte[] body) throws Exception {
        boolean isGet = method.equals("GET") || method.equals("HEAD");
        if (path.size() == 1) {
            return isGet
                    ? CatalogHandlers.listNamespaces(catalog, Namespace.empty())
                    : CatalogHandlers.createNamespace(
                            catalog, read(body, CreateNamespaceRequest.class));
        }
        Namespace namespace = Namespace.of(path.get(1));
        if (path.size() == 2) {
            return CatalogHandlers.loadNamespace(catalog, namespace);
        }
        if (path.get(2).equals("register")) {
            return CatalogHandlers.registerTable(
                    catalog, namespace, read(body, RegisterTableRequest.class));
        }
        if (path.size() == 3) {
            return isGet
                    ? CatalogHandlers.listTables(catalog, namespace)
                    : CatalogHandlers.createTable(
                            catalog, namespace, read(body, CreateTableRequest.class));
        }
        TableIdentifier table = TableIdentifier.of(namespace, path.get(3));
        if (isGet) {
            return CatalogHandlers.loadTable(
                    catalog, table, RESTCatalogProperties.SnapshotMode.ALL);
        }
        if (method.equals("DELETE")) {
            CatalogHandlers.dropTable(catalog, table);
            return null;
        }
        return CatalogHandlers.updateTable(catalog, table, read(body, UpdateTableRequest.class));
    }

    private static <T> T read(byte[] body, Class<T> kind) throws Exception {
        return RESTObjectMapper.mapper().readValue(body, kind);
    }

    private List<Map<String, String>> rows(List<String> path) throws Exception {
        Table table = reader.loadTable(TableIdentifier.of(path.get(1), path.get(2)));
        IcebergGenerics.ScanBuilder scan = IcebergGenerics.read(table);
        if (path.size() > 3) {
            String which = path.get(3);
            boolean isNumber = which.chars().allMatch(Character::isDigit);
            scan =
                    scan.useSnapshot(
                            isNumber
                                    ? Long.parseLong(which)
                                    : table.refs().get(which).snapshotId());
        }
        List<Map<String, String>> rows = new ArrayList<>();
        try (CloseableIterable<Record> records = scan.build()) {
            for (Record record : records) {
                Map<String, String> row = new TreeMap<>();
                for (Types.NestedField field : record.struct().fields()) {
                    if (!field.name().equals("_pos")) { // it is there where rows are deleted
                        row.put(field.name(), String.valueOf(record.getField(field.name())));
                    }
                }
                rows.add(row);
            }
        }
        return rows;
    }
}
