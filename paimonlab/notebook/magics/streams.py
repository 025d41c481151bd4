"""The streams of a session."""

from __future__ import annotations

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.notebook import commands
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line, unquoted


@magics_class
class StreamMagics(Magics):
    """Look at streams, and end them."""

    @line_magic
    @magic_arguments()
    @argument("--stop", metavar="NAME", help="end this stream")
    def paimon_streams(self, line: str) -> View:
        """List the streams of the session: rows, rates, how far behind, what failed."""
        options = arguments(self.paimon_streams, line)
        with errors_on_one_line("streams"):
            if options.stop is not None:
                return commands.stop_stream(unquoted(options.stop))
            return commands.streams()
