# SPDX-License-Identifier: Apache-2.0
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
    request = {'words': sys.argv[2:], 'environment': dict(os.environ), 'folder': os.getcwd()}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(sys.argv[1])
        socket.send_fds(server, [json.dumps(request).encode() + b'\n'], [0, 1, 2])
        return int(server.makefile().readline())


if __name__ == '__main__':
    sys.exit(main())
