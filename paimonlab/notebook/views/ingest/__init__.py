"""Jobs that read changes of other systems into tables."""
