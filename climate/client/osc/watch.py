# SPDX-License-Identifier: Apache-2.0

"""``openstack lease watch``."""

from __future__ import annotations

import argparse
import datetime
import time
from types import TracebackType
from typing import TextIO

from osc_lib import exceptions
from rich import console
from rich import progress

from climate.client import terminal
from climate.client import watching
from climate.client.osc import commands
from climate.client.osc import leases
from climate.client.osc import options
from climate.client.osc import plugin
from climate.clock import SystemClock


class RichScreen:
    """Lines, and on a terminal a bar below them.

    :param stream: where to write
    """

    def __init__(self, stream: TextIO) -> None:
        self._console = console.Console(file=stream, highlight=False, markup=False)
        self._progress = progress.Progress(
            progress.TextColumn('{task.description}'),
            progress.BarColumn(bar_width=None),
            progress.TextColumn('{task.fields[left]}'),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task: progress.TaskID | None = None

    def __enter__(self) -> RichScreen:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def line(self, text: str) -> None:
        """Show a line that stays."""
        self._console.print(terminal.shown(text), soft_wrap=True)

    def progress(self, text: str, share: float, seconds: float) -> None:
        """Move the bar."""
        left = str(datetime.timedelta(seconds=round(seconds)))
        if self._task is None:
            self._task = self._progress.add_task(text, total=1.0, left=left)
        self._progress.update(self._task, description=text, completed=share, left=left)


class WatchLease(commands.Command):
    """Follow a lease until it is active: a bar to its start, and what is done for it."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        leases.add_lease(parser)
        leases.add_status(parser, 'Follow the lease until this status, such as TERMINATED')
        options.add_duration(parser, '--timeout', 'Give up after this time')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Follow the lease.

        :raises osc_lib.exceptions.CommandError: if it does not get the status
        """
        proxy = plugin.client(self.app)
        lease = leases.find(proxy, parsed_args.lease)
        status = parsed_args.status
        until = parsed_args.timeout and SystemClock.now() + parsed_args.timeout
        with RichScreen(self.app.stdout) as screen:
            watcher = watching.LeaseWatcher(
                proxy, lease.id, screen, now=SystemClock.now, sleep=time.sleep
            )
            last = watcher.watch(status, until)
        if last is None and status != 'TERMINATED':
            raise exceptions.CommandError(f'Lease {lease.name!r} was deleted')
        if last is not None and last.status != status:
            raise exceptions.CommandError(f'Lease {lease.name!r} is {last.status}')
