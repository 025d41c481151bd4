"""The JDBC catalog: the names of databases, tables and views are rows of a database.

Source: apache/paimon@1.4.2 and @5dacde5 ``org.apache.paimon.jdbc``.
"""
