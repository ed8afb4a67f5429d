# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
    tune_process(core.conf)
    server = waitress.create_server(parts.api(core), host='127.0.0.1', port=0, threads=8)
    threading.Thread(target=server.run, daemon=True).start()
    parts.say(f'http://127.0.0.1:{server.effective_port}')
    parts.hear()
    core.store.close()


if __name__ == '__main__':
    main()
