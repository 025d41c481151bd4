"""Names of Paimon's actions for changes of other systems."""

from __future__ import annotations

ACTIONS = (
    *("mysql_sync_table", "mysql_sync_database", "postgres_sync_table"),
    *("kafka_sync_table", "kafka_sync_database", "mongodb_sync_table", "mongodb_sync_database"),
)
"""What is read here."""
OTHERS = ("pulsar_sync_table", "pulsar_sync_database")
"""Those that are not."""
