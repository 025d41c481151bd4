"""Where changes come from: one module each, behind `paimonlab.ingest.changes.Source`."""
