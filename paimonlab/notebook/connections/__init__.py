"""Warehouses: connecting, configured and offered connections, tables to try things on."""
