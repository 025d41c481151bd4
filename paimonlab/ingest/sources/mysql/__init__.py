"""Tables of MySQL and MariaDB as a source: their rows, then the changes of the binary log."""
