"""Collections of MongoDB as a source: their documents, then their change stream."""
