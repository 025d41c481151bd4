package io.confluent.kafka.schemaregistry.client;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URL;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;

/** Asks a registry once for each schema. */
public final class CachedSchemaRegistryClient implements SchemaRegistryClient {
    private final String address;
    private final Map<Integer, Schema> known = new HashMap<>();

    public CachedSchemaRegistryClient(String address, int ignoredCapacity) {
        this.address = address;
    }

    @Override
    public Schema byId(int id) throws Exception {
        Schema schema = known.get(id);
        if (schema == null) {
            URL url = new URL(address + "/schemas/ids/" + id);
            String text = new ObjectMapper().readTree(url).get("schema").asText();
            schema = new Schema.Parser().parse(text);
            known.put(id, schema);
        }
        return schema;
    }
}
