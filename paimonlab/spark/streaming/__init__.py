"""Streams: what commits of a table change as a source, and a table as a sink, each row once."""
