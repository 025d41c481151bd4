package io.confluent.kafka.serializers;

import io.confluent.kafka.schemaregistry.client.SchemaRegistryClient;
import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericContainer;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.DecoderFactory;

/** Reads a zero byte, the number of a schema in four bytes, and a record. */
public abstract class AbstractKafkaAvroDeserializer {
    private static final int HEAD = 5;

    protected SchemaRegistryClient schemaRegistry;

    protected GenericContainerWithVersion deserializeWithSchemaAndVersion(
            String topic, boolean isKey, byte[] payload) {
        if (payload == null) {
            return null;
        }
        try {
            ByteBuffer head = ByteBuffer.wrap(payload);
            if (head.get() != 0) {
                throw new IllegalArgumentException("no number of a schema");
            }
            Schema schema = schemaRegistry.byId(head.getInt());
            GenericContainer read =
                    new GenericDatumReader<GenericContainer>(schema)
                            .read(
                                    null,
                                    DecoderFactory.get()
                                            .binaryDecoder(
                                                    payload, HEAD, payload.length - HEAD, null));
            return new GenericContainerWithVersion(read);
        } catch (Exception problem) {
            throw new IllegalStateException(problem);
        }
    }
}
