# SPDX-License-Identifier: Apache-2.0

"""Kills a manager with SIGKILL at each step of a lease, and lets another one continue.

A step is a transaction, or a call that changes the cloud. No object may be lost or
created twice.
"""

from __future__ import annotations

import collections
import datetime
import os
import pathlib
import signal
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

from climate.cloud import read_only
from climate.db.transactions.store import Store
from climate.simulator.runner import VerbRunner
from climate.testing import deployment
from climate.testing.promised import BookedLease
from climate.testing.restorable import Moment
from climate.testing.restorable import RestorableDeployment
from climate.testing.walker import ACTIVE
from climate.testing.walker import END
from climate.testing.walker import LONG


class Killed:
    """The life of one lease, with a manager that is killed at each step in turn.

    :param site: a deployment whose cloud keeps its state in a directory, not in memory
    :param died: the file in which a process writes the time of its death
    :ivar steps: the number of steps
    """

    def __init__(self, site: RestorableDeployment, booked: BookedLease, died: pathlib.Path) -> None:
        self._site = site
        self._booked = booked
        self._died = died
        self.steps = 0

    def complaints(self) -> Iterator[str]:
        """Yield the differences from the undisturbed life."""
        site, lease = self._site, self._booked.lease
        begin = site.save()
        site.restore(begin)
        site.until(ACTIVE)
        whole = site.picture(lease)
        site.until(END + LONG)
        sent = collections.Counter(site.bus.received(lease))
        while self._killed_at(self.steps + 1, begin):
            self.steps += 1
            where = f'killed at step {self.steps}'
            if site.clock.now() < deployment.at(ACTIVE):
                site.until(ACTIVE)
                if site.status(lease) == 'ACTIVE' and site.picture(lease) != whole:
                    yield f'{where}: active with {site.picture(lease)} instead of {whole}'
            site.until(2 * END)
            if site.status(lease) != 'TERMINATED':
                yield f'{where}: {site.status(lease)} after the end'
            again = collections.Counter(site.bus.received(lease))
            if again != sent:
                yield f'{where}: notifications were {again} instead of {sent}'
            yield from (f'{where}: it left {thing}' for thing in self._booked.left())

    def _killed_at(self, step: int, begin: Moment) -> bool:
        """Run a manager of the lease in another process, and kill it after *step* steps.

        :returns: whether it was killed; otherwise the lease ended before that step
        :raises RuntimeError: if it ended in any other way
        """
        self._site.restore(begin)
        child = os.fork()
        if not child:
            try:
                self._live(step)
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            # All other processes use the same time.
            died = datetime.datetime.fromisoformat(self._died.read_text())
            self._site.clock.move_to(died)
            return True
        if status:
            raise RuntimeError(f'at step {step} the manager ended with status {status}')
        return False

    def _live(self, step: int) -> None:
        """Run as that process: with new connections, and killed at a step."""
        site = self._site
        # Keep the objects of the parent alive: deleting them would close connections that
        # the processes share. The simulated cloud detects the other process itself.
        inherited = (site.store, site.manager)
        site.store = Store(site.conf, site.clock)
        site.manager = site.add_manager()
        # The next manager sends the notifications.
        site.manager.send = lambda: None  # type: ignore[method-assign]  # of this process only
        steps = 0

        def mortal(work: Callable[..., Any]) -> Callable[..., Any]:
            def lives(*arguments: Any, **named: Any) -> Any:
                nonlocal steps
                done = work(*arguments, **named)
                verb = arguments[1] if isinstance(arguments[1], str) else ''
                if not verb or not read_only.is_read_only(verb):
                    steps += 1
                if steps == step:
                    self._died.write_text(site.clock.now().isoformat())
                    os.kill(os.getpid(), signal.SIGKILL)
                return done

            return lives

        for place in (Store, VerbRunner):
            place.run = mortal(place.run)  # type: ignore[method-assign]  # likewise, it never returns
        site.until(END + LONG)
        del inherited
