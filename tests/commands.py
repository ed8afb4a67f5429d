# SPDX-License-Identifier: Apache-2.0

"""Runs commands; those in Python quickly: a fork server loads their libraries once."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from tests.waiting import until

HERE = pathlib.Path(__file__).parent
# The modules whose ``main`` the scripts of the stock clients call.
CLIENTS = {'openstack': 'openstackclient.shell', 'blazar': 'blazarclient.shell'}
# The time limit of a command, in seconds, which is enough on a busy machine.
PATIENCE = 90


def captured(
    argv: Sequence[str | os.PathLike[str]], *, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, and keep what it writes; like :func:`subprocess.run`."""
    return subprocess.run(argv, capture_output=True, text=True, check=check, **options)


class Commands:
    """Commands that are forked from one process; see fork_server.

    Loading the stock client and its plugins takes two seconds of processor time, which is
    most of the time of a command.

    :ivar path: the socket on which the server listens
    :param python: the Python interpreter that has the commands
    :param mains: the modules of the commands, by name
    :param environment: the environment of the server; each command has its own
    """

    def __init__(
        self, python: pathlib.Path, mains: Mapping[str, str], environment: Mapping[str, str]
    ) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.path = str(pathlib.Path(self._folder.name) / 'commands')
        words = [f'{name}={module}' for name, module in mains.items()]
        self._server = subprocess.Popen(
            [python, HERE / 'fork_server.py', self.path, *words],
            stdin=subprocess.PIPE,
            env=dict(environment),
        )
        until(self._listens, PATIENCE, 'commands can be run')

    def _listens(self) -> bool:
        assert self._server.poll() is None, 'the server of commands has ended'
        with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
            probe.connect(self.path)
            return True
        return False

    def run(
        self, words: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a command; like :func:`subprocess.run`."""
        request = {'words': list(words), 'environment': dict(environment), 'folder': os.getcwd()}
        with (
            tempfile.TemporaryFile('w+') as out,
            tempfile.TemporaryFile('w+') as err,
            open(os.devnull, encoding='utf-8') as nothing,
            socket.socket(socket.AF_UNIX) as server,
        ):
            server.settimeout(PATIENCE)
            server.connect(self.path)
            files = [nothing.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(server, [json.dumps(request).encode() + b'\n'], files)
            status = int(server.makefile().readline())
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(words, status, out.read(), err.read())

    def close(self) -> None:
        """Stop the server."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(PATIENCE)
        self._folder.cleanup()
