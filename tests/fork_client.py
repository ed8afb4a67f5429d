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
"""A command that a fork server runs: ``fork_client.py SOCKET COMMAND WORD...``.

It passes its arguments, environment, working directory and standard files to the server,
and exits with the status of the command. It imports little, so that it starts quickly.
"""

import json
import os
import socket
import sys


def main() -> int:
    """Return the exit status of the command."""
    request = {
        'words': sys.argv[2:],
        'environment': dict(os.environ),
        'folder': os.getcwd(),
    }
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(sys.argv[1])
        socket.send_fds(server, [json.dumps(request).encode() + b'\n'], [0, 1, 2])
        return int(server.makefile().readline())


if __name__ == '__main__':
    sys.exit(main())
