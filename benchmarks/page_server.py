# SPDX-License-Identifier: Apache-2.0

"""An API process that serves the web page, for a benchmark.

Run as ``python -m benchmarks.page_server URL``.
"""

from __future__ import annotations

import sys
import threading

import waitress

from benchmarks import parts
from climate.cmd.manager import tune_process


def main() -> None:
    """Serve until the standard input ends; print the address first."""
    core = parts.core(sys.argv[1])
    core.conf.set_override('enabled', True, group='ui')
    tune_process()
    server = waitress.create_server(parts.api(core), host='127.0.0.1', port=0, threads=8)
    threading.Thread(target=server.run, daemon=True).start()
    parts.say(f'http://127.0.0.1:{server.effective_port}')
    parts.read_line()
    core.store.close()


if __name__ == '__main__':
    main()
