# SPDX-License-Identifier: Apache-2.0

"""``climate-watch``: prints notifications of leases as they arrive."""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import json
import logging
import os
import pathlib
import sys
import threading
import time
from collections.abc import Callable
from collections.abc import Generator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg
from rich import console
from rich.text import Text

from climate import conf as options
from climate import exceptions
from climate.messaging import follow
from climate.messaging import lines
from climate.messaging import listener
from climate.messaging import schemas

_INTERVAL = 0.2
_STYLES = {'ERROR': 'bold red', 'CRITICAL': 'bold red', 'WARN': 'yellow'}

# The types of Climate begin with these words; other services use the same topic.
_OURS = sorted({f'{name.partition(".")[0]}.*' for name in schemas.SCHEMAS})

Envelopes = Generator[dict[str, Any] | None, None, None]

_EPILOG = """\
Other subscribers are not affected: climate-watch has its own queue, which the
broker deletes when it exits. With --pool, the queue has a name, remains and
keeps collecting; readers with the same name share its content.
The exit status is 1 if --timeout passed before --count was reached.
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog='climate-watch',
        description='Print notifications as they arrive, one per line.',
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    source = made.add_argument_group('source')
    source.add_argument(
        '--config-file', action='append', metavar='PATH', help='the configuration of a service'
    )
    source.add_argument('--transport-url', metavar='URL', help='instead of the configured one')
    source.add_argument('--topic', action='append', help='instead of the configured ones')
    source.add_argument('--pool', metavar='NAME', help='read a queue of this name, which remains')
    source.add_argument(
        '--file', type=pathlib.Path, metavar='PATH', help='follow a file of climate-standalone'
    )
    source.add_argument(
        '--from-start', action='store_true', help='with --file: print existing lines first'
    )
    which = made.add_argument_group('filters')
    which.add_argument('--lease', metavar='ID_OR_NAME', help='only this lease')
    which.add_argument(
        '--event',
        action='append',
        metavar='PATTERN',
        help="only these types, such as 'lease.event.*'; default those of Climate, '*' for all",
    )
    which.add_argument('--count', type=int, metavar='N', help='exit after N notifications')
    which.add_argument('--timeout', type=float, metavar='SECONDS', help='exit after this time')
    how = made.add_argument_group('output')
    how.add_argument('--json', action='store_true', help='print each as one line of JSON')
    how.add_argument('--local', action='store_true', help='times in the zone of this machine')
    return made


def wanted(arguments: argparse.Namespace, envelope: dict[str, Any]) -> bool:
    """Whether the command line asks for this notification."""
    event_type = str(envelope.get('event_type'))
    patterns = arguments.event or _OURS
    if not any(fnmatch.fnmatchcase(event_type, pattern) for pattern in patterns):
        return False
    payload = envelope.get('payload')
    if not arguments.lease:
        return True
    return isinstance(payload, dict) and arguments.lease in (
        payload.get('lease_id'),
        payload.get('name'),
    )


def from_file(arguments: argparse.Namespace) -> Envelopes:
    """Yield the notifications of a file; None each time there is no new one."""
    follower = follow.Follower(arguments.file, from_start=arguments.from_start)
    pause = threading.Event()
    while True:
        yield from follower.read()
        yield None
        pause.wait(_INTERVAL)


def from_bus(arguments: argparse.Namespace) -> Envelopes:
    """Yield the notifications of the bus; None each time there is no new one."""
    conf = cfg.ConfigOpts()
    conf([], project='climate', default_config_files=arguments.config_file)
    options.register_opts(conf)
    notifications = listener.listen(
        conf,
        url=arguments.transport_url,
        topics=arguments.topic or (),
        pool=arguments.pool,
        on_broker=_Outages(lambda text: print(text, file=sys.stderr, flush=True)),
    )
    notifications.start()
    try:
        while True:
            yield notifications.get(_INTERVAL)
    finally:
        notifications.stop()


class _Outages:
    """Reports once that the broker is down, and once that it is back."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._there: bool | None = None

    def __call__(self, there: bool) -> None:
        if there == self._there:
            return
        if there:
            self._say('climate-watch: listening')
        else:
            self._say('climate-watch: the message bus is unavailable; reconnecting')
        self._there = there


class _Screen(console.Console):
    """Prints in color on a terminal, and plain text into a pipe."""

    def on_broken_pipe(self) -> None:
        """Raise, so that the caller can exit without an error."""
        raise BrokenPipeError


def _style(envelope: Mapping[str, Any]) -> str:
    """Return the style of a notification: by its priority, and dim if it only announces."""
    by_priority = _STYLES.get(str(envelope.get('priority', '')).upper())
    return by_priority or ('dim' if '.before_' in str(envelope.get('event_type')) else '')


def watch(arguments: argparse.Namespace, source: Envelopes) -> int:
    """Print the wanted notifications until a limit is reached; return the exit status."""
    zone = None if arguments.local else datetime.UTC
    deadline = None if arguments.timeout is None else time.monotonic() + arguments.timeout
    left = arguments.count
    screen = _Screen(highlight=False, markup=False, soft_wrap=True)
    for envelope in source:
        if envelope is not None and wanted(arguments, envelope):
            if arguments.json:
                print(json.dumps(envelope))
            else:
                screen.print(Text(lines.line(envelope, zone), style=_style(envelope)))
            sys.stdout.flush()
            left = None if left is None else left - 1
        if left is not None and left <= 0:
            return 0
        if deadline is not None and time.monotonic() >= deadline:
            break
    return 0 if left is None else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments = parser().parse_args(argv)
    # The libraries report every attempt to reach the broker; once is enough.
    logging.getLogger().addHandler(logging.NullHandler())
    source = from_file(arguments) if arguments.file else from_bus(arguments)
    try:
        return watch(arguments, source)
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        # The reader has closed the pipe. Without this, Python would flush into it on
        # exit, which would be another error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (exceptions.ConfigurationError, cfg.Error) as error:
        print(f'climate-watch: {error}', file=sys.stderr)
        return 2
    finally:
        source.close()


if __name__ == '__main__':
    sys.exit(main())
