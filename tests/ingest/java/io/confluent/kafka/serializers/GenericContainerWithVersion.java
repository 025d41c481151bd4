package io.confluent.kafka.serializers;

import org.apache.avro.generic.GenericContainer;

/** A record. */
public final class GenericContainerWithVersion {
    private final GenericContainer container;

    GenericContainerWithVersion(GenericContainer container) {
        this.container = container;
    }

    public GenericContainer container() {
        return container;
    }
}
