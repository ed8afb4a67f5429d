# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of clients without loading their libraries each time.

It is a program for the Python interpreter that has the clients: ``fork_server.py SOCKET
COMMAND=MODULE...``. For each caller it forks a process that does the same as the script of
the command: it calls ``main`` of the module with the arguments, environment, working
directory and files of the caller. The server returns the exit status, and exits when its
standard input ends.

``fork_client.py`` and ``tests.commands`` are such callers.
"""

from __future__ import annotations

import array
import contextlib
import importlib
import importlib.metadata
import inspect
import json
import os
import runpy
import signal
import socket
import sys
import threading

# The command that runs Python modules and files.
PYTHON = 'python'
# The modules that the scripts of entry points call, by the names of the scripts.
MAINS: dict[str, str] = {}


def _receive(caller: socket.socket) -> tuple[list[int], dict]:
    """Return the files of the caller, and the request, which is a line of JSON."""
    sent, files, _, _ = socket.recv_fds(caller, 65536, 3)
    while not sent.endswith(b'\n'):
        more = caller.recv(65536)
        if not more:
            sys.exit()  # the caller only checked whether the server listens
        sent += more
    return list(array.array('i', files)), json.loads(sent)


def _become(files: list[int], request: dict) -> None:
    """Run the command in this process."""
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
    # The default arguments of one of them are sys.argv at the time of its import.
    sys.exit(main(sys.argv[1:]) if inspect.signature(main).parameters else main())


def _run_python() -> None:
    """Run a module, or a file; both can use the libraries that are already loaded."""
    del sys.argv[0]
    sys.path.insert(0, os.getcwd())
    if sys.argv[0] == '-m':
        del sys.argv[0]
        runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name='__main__')


def _serve(caller: socket.socket) -> None:
    """Run one command in a child of this process, and send its exit status."""
    files, request = _receive(caller)
    command = os.fork()
    if not command:
        _become(files, request)
    _, status = os.waitpid(command, 0)
    caller.sendall(b'%d\n' % os.waitstatus_to_exitcode(status))


def main() -> None:
    """Load the modules, and serve callers."""
    MAINS.update(named.split('=') for named in sys.argv[2:])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen()
        for module in MAINS.values():
            importlib.import_module(module)
        _warm_up()
        # The kernel reaps the processes that serve callers.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        accept(listener)


def _warm_up() -> None:
    """Load what the stock client would load for each command: all of them are plugins."""
    points = importlib.metadata.entry_points()
    for group in points.groups:
        if group.startswith('openstack.'):
            for point in points.select(group=group):
                # Some name what they do not have; the client leaves them out as well.
                with contextlib.suppress(Exception):
                    point.load()
    # It looks for the package of a command among all files of all packages, and keeps them.
    getattr(sys.modules.get('cliff.command'), '_get_distributions_by_modules', lambda: None)()


def accept(listener: socket.socket) -> None:
    """Fork a process for each caller, until the parent closes the standard input."""
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
