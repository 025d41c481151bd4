"""Iceberg's metadata of a Paimon table, as values: schemas, bounds, manifests, what follows what.

Source: https://iceberg.apache.org/spec/ and apache/paimon@1.4.2 ``org.apache.paimon.iceberg``; what
later releases mended is named where it is done.
"""
