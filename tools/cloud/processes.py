# SPDX-License-Identifier: Apache-2.0

"""Starts, stops and inspects single processes.

A process is identified by its id and the time of its start, because ids are reused. Each
runs in its own session, so that its children can be found, and killed with it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import signal as signals
import time
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence

from tools.cloud import services
from tools.cloud.errors import CloudError
from tools.cloud.state import Cloud

# The time in which a service must be ready, in seconds. Dead ones are noticed at once.
PATIENCE = 180.0
GRACE = 20.0  # the time in which it must stop, in seconds
_POLL = 0.05


@dataclasses.dataclass(frozen=True, kw_only=True)
class Process:
    """A process of the machine, as in ``/proc``."""

    pid: int
    session: int
    state: str
    started: int  # in clock ticks since the machine was booted


def look(pid: int) -> Process | None:
    """Return the process *pid*; None if it does not exist, or is dead."""
    try:
        text = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='utf-8')
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name of the program, in parentheses, may contain any characters.
    rest = text.rpartition(')')[2].split()
    found = Process(pid=pid, state=rest[0], session=int(rest[3]), started=int(rest[19]))
    # If the first thread has ended but others have not, the process still has its ports.
    threads = int(rest[17])
    return None if found.state in 'ZX' and threads < 2 else found


def in_session(pid: int) -> list[Process]:
    """Return the processes of the session that *pid* leads, including *pid*."""
    ids = (int(name) for name in os.listdir('/proc') if name.isdigit())
    return [each for each in map(look, ids) if each is not None and each.session == pid]


def _pid_file(cloud: Cloud, name: str) -> pathlib.Path:
    return cloud.run / f'{name}.pid'


def find(cloud: Cloud, name: str) -> Process | None:
    """Return the process that runs as *name*; None if there is none.

    If the id in the file was reused by another process, the result is None.
    """
    try:
        pid, started = map(int, _pid_file(cloud, name).read_text(encoding='utf-8').split())
    except (FileNotFoundError, ValueError):
        return None
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # reap it, if it is a dead child of this process
    found = look(pid)
    return found if found is not None and found.started == started else None


def alive(cloud: Cloud, name: str) -> bool:
    """Whether *name* runs."""
    return find(cloud, name) is not None


def running(cloud: Cloud) -> list[str]:
    """Return the names of all running processes, sorted."""
    return [
        path.stem for path in sorted(cloud.run.glob('*.pid')) if find(cloud, path.stem) is not None
    ]


def start(
    cloud: Cloud,
    name: str,
    *,
    settings: str | None = None,
    environment: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    wait: bool = True,
) -> None:
    """Start *name*, unless it runs.

    :param settings: a configuration that overrides that of the service, such as
        ``"[DEFAULT]\\ndebug = true\\n"``. It stays until it is replaced; ``""`` removes
        it; None keeps it
    :param environment: additional variables, for this start only
    :param arguments: additional arguments of the command, for this start only
    :param wait: whether to wait until the service responds, if it has a port
    :raises CloudError: if it dies, or is not ready in time, with the end of its log
    """
    if settings is not None:
        services.configure(cloud, name, settings)
    if not alive(cloud, name):
        command = services.command(cloud, name)
        spawn(
            cloud, name, [*command.argv, *arguments], {**command.environment, **(environment or {})}
        )
    if wait:
        await_ready(cloud, name)


def spawn(cloud: Cloud, name: str, argv: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run *argv* as *name*, with its output in the log, and record its id.

    It inherits no other open file, because it would otherwise hold the locks of the
    parent process as long as it runs.
    """
    log = str(cloud.logs / f'{name}.log')
    pid = os.posix_spawn(
        argv[0],
        argv,
        environment,
        setsid=True,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
            *((os.POSIX_SPAWN_CLOSE, number) for number in _inherited()),
        ],
    )
    found = look(pid)
    _pid_file(cloud, name).write_text(f'{pid} {found.started if found else 0}\n', encoding='utf-8')


def _inherited() -> list[int]:
    """Return the open files that a child would inherit, except the standard ones."""
    found = []
    for name in os.listdir('/proc/self/fd'):
        # The list contains the descriptor with which it was read.
        with contextlib.suppress(OSError):
            if int(name) > 2 and os.get_inheritable(int(name)):
                found.append(int(name))
    return found


def await_ready(cloud: Cloud, name: str, seconds: float = PATIENCE) -> None:
    """Wait until *name* responds; return at once if it has no port.

    :raises CloudError: if it dies or takes longer than *seconds*
    """
    ready = services.probe(cloud, name)

    def settled() -> bool:
        if not alive(cloud, name):
            raise CloudError(f'{name} exited unexpectedly\n{tail(cloud, name)}')
        return ready()

    if not _wait(settled, seconds):
        raise CloudError(f'{name} is not ready after {seconds:.0f} s\n{tail(cloud, name)}')


def stop(
    cloud: Cloud, name: str, *, signal: signals.Signals = signals.SIGTERM, seconds: float = GRACE
) -> None:
    """Stop *name*, if it runs, and wait until it and all its children have ended.

    :param signal: SIGTERM is sent to the process, which ends its children; SIGKILL is
        sent to all of them at once, as if the machine failed
    :param seconds: the time after which the process is killed
    """
    found = find(cloud, name)
    if found is None:
        _pid_file(cloud, name).unlink(missing_ok=True)
        return
    if signal == signals.SIGKILL:
        _kill_session(found.pid)
    else:
        os.kill(found.pid, signal)
    if not _wait(lambda: not alive(cloud, name), seconds):
        _kill_session(found.pid)
        _wait(lambda: not alive(cloud, name), seconds)
    _kill_session(found.pid)
    _pid_file(cloud, name).unlink(missing_ok=True)


def restart(
    cloud: Cloud,
    name: str,
    *,
    settings: str | None = None,
    environment: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
) -> None:
    """Stop *name* and start it again; see :func:`start`."""
    stop(cloud, name)
    start(cloud, name, settings=settings, environment=environment, arguments=arguments)


def tail(cloud: Cloud, name: str, lines: int = 15) -> str:
    """Return the last lines of the log of *name*, each indented."""
    path = cloud.logs / f'{name}.log'
    try:
        text = path.read_text(encoding='utf-8', errors='replace')
    except FileNotFoundError:
        return f'  {path} does not exist'
    return '\n'.join([f'  {path}:', *(f'  | {line}' for line in text.splitlines()[-lines:])])


def _kill_session(pid: int) -> None:
    for each in in_session(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each.pid, signals.SIGKILL)


def _wait(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True
