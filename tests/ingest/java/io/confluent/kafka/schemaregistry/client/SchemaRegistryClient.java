package io.confluent.kafka.schemaregistry.client;

import org.apache.avro.Schema;

/** What Paimon's action takes from Confluent's jar of this name, which is not on Maven Central. */
public interface SchemaRegistryClient {
    Schema byId(int id) throws Exception;
}
