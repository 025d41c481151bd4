"""paimonlab beside its peers: `run.py`."""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# pip compiles what it installs, peers among it. Where this variable is set, each process of ours
# would compile a few hundred modules anew, 0.15 s of the processor in a first write.
