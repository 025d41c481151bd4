"""The files of a folder, as Spark's own file systems list them.

Source: apache/paimon@5dacde5 ``CopyIntoHelper.listAndFilterFiles``.
"""

from __future__ import annotations

from typing import Any

from pyspark.errors import IllegalArgumentException

from paimonlab.errors import DataError
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.compiled import new
from paimonlab.table.copying.loading import SourceFile, no_source

_SOURCE = """
package org.paimonlab.spark;

import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Lists files in one call; Spark's readers leave out what begins with _ or . as well. */
public final class SourceFiles {
  private final Configuration settings;

  public SourceFiles(Configuration settings) { this.settings = settings; }

  public boolean exists(String folder) throws Exception {
    Path path = new Path(folder);
    return path.getFileSystem(this.settings).exists(path);
  }

  public String list(String folder, String pattern) throws Exception {
    Path path = new Path(folder);
    FileSystem system = path.getFileSystem(this.settings);
    Pattern wanted = Pattern.compile(pattern);
    StringBuilder found = new StringBuilder();
    FileStatus[] all = system.listStatus(path);
    for (int i = 0; i < all.length; i++) {
      FileStatus file = all[i];
      String name = file.getPath().getName();
      if (file.isFile() && !name.startsWith("_") && !name.startsWith(".")
          && wanted.matcher(name).find()) {
        found.append(file.getLen()).append(' ').append(file.getModificationTime())
            .append(' ').append(file.getPath().toString()).append('\\0');
      }
    }
    return found.toString();
  }

  public String absolute(String folder) throws Exception {
    Path path = new Path(folder);
    return path.getFileSystem(this.settings).makeQualified(path).toString();
  }
}
"""


class SourceFiles:
    """Lists files for one session, with its settings of file systems."""

    def __init__(self, bridge: Bridge, session: Any) -> None:
        settings = session.sessionState().newHadoopConf()
        self._files = new(bridge, _SOURCE, "SourceFiles", settings)

    def list(self, folder: str, pattern: str | None) -> list[SourceFile]:
        """Return the files of a folder, or a file; see `LoadEngine.list`."""
        try:
            if not self._files.exists(folder):
                raise no_source(folder)
            listed = str(self._files.list(folder, pattern or ""))
        except IllegalArgumentException as error:
            raise DataError(f"COPY INTO … FROM {folder!r} PATTERN = {pattern!r}: {error}") from None
        parts = (line.split(" ", 2) for line in listed.split("\0")[:-1])
        return sorted(
            SourceFile(path, int(size_bytes), int(millis)) for size_bytes, millis, path in parts
        )

    def absolute(self, folder: str) -> str:
        """Return a path with its scheme."""
        return str(self._files.absolute(folder))
