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
"""Runs the command lines of clients without loading their libraries again each time.

A program, to be run by the Python that has the clients: ``fork_server.py SOCKET
COMMAND=MODULE...``. To each caller it forks a process that does what the script
of the command does: it calls ``main`` of the same module, with the words, the
environment, the folder and the files of the caller, and tells its exit status.
Ends with its standard input.

``fork_client.py`` is such a caller; ``tests.commands`` is another one.
"""

from __future__ import annotations

import array
import importlib
import inspect
import json
import os
import runpy
import signal
import socket
import sys
import threading

# What runs modules and files of Python.
PYTHON = 'python'
# What the scripts that pip makes of a package's entry points call, by their names.
MAINS: dict[str, str] = {}


def _receive(caller: socket.socket) -> tuple[list[int], dict]:
    """Return the files of the caller, and the request, which is a line of JSON."""
    sent, files, _, _ = socket.recv_fds(caller, 65536, 3)
    while not sent.endswith(b'\n'):
        more = caller.recv(65536)
        if not more:
            sys.exit()  # somebody only asked whether we listen
        sent += more
    return list(array.array('i', files)), json.loads(sent)


def _become(files: list[int], request: dict) -> None:
    """Be the command."""
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.environ.clear()
    os.environ.update(request['environment'])
    os.chdir(request['folder'])
    sys.argv = request['words']
    program = os.path.basename(sys.argv[0])
    if program == PYTHON:
        _run_python()
        sys.exit()
    main = importlib.import_module(MAINS[program]).main
    # By default one of them takes the words that were there when it was loaded.
    sys.exit(main(sys.argv[1:]) if inspect.signature(main).parameters else main())


def _run_python() -> None:
    """Run a module that was loaded already, or a file that needs what was."""
    del sys.argv[0]
    sys.path.insert(0, os.getcwd())
    if sys.argv[0] == '-m':
        del sys.argv[0]
        runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name='__main__')


def _serve(caller: socket.socket) -> None:
    """Run one command; this is a process of its own, and so is the command."""
    files, request = _receive(caller)
    command = os.fork()
    if not command:
        _become(files, request)
    _, status = os.waitpid(command, 0)
    caller.sendall(b'%d\n' % os.waitstatus_to_exitcode(status))


def main() -> None:
    """Serve until nobody listens any more."""
    MAINS.update(named.split('=') for named in sys.argv[2:])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen()
        for module in MAINS.values():
            importlib.import_module(module)
        # Nobody waits for those who serve.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        accept(listener)


def accept(listener: socket.socket) -> None:
    """Fork for each caller; whoever started us closes our input at the end."""
    threading.Thread(target=_await_end, daemon=True).start()
    while True:
        caller, _ = listener.accept()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            _serve(caller)
            os._exit(0)
        caller.close()


def _await_end() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == '__main__':
    main()
