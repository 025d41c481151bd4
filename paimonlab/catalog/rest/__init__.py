"""Catalogs behind Paimon's REST protocol: what is said over the wire, and who says it.

Knows requests, answers, credentials and what may be asked twice. See ``docs/catalogs.md``.

Source: apache/paimon@1.4.2 ``docs/static/rest-catalog-open-api.yaml``, ``org.apache.paimon.rest``.
"""
