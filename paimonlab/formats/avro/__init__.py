"""Avro: data files, and the containers that manifests lie in."""
