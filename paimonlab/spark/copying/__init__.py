"""``COPY INTO``: files into tables, and rows into files."""
