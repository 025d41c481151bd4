"""The Hive catalog: databases, tables and views are objects of a Hive metastore.

Source: apache/paimon@1.4.2 and @5dacde5 ``org.apache.paimon.hive``.
"""
