# SPDX-License-Identifier: Apache-2.0

"""The use cases that ``make demo USE_CASE=...`` shows in addition to whole hosts.

Each takes its lease from a page of the user guide, with days shortened to seconds.
"""

from __future__ import annotations

import datetime
import json
import pathlib
import threading
from collections.abc import Callable
from typing import Any

from stage import ask
from stage import Bus
from stage import CLOCK
from stage import expect
from stage import PATIENCE
from stage import Printer
from stage import Service

from climate.simulator import SimulatedCloud

BODIES = pathlib.Path(__file__).parents[1] / 'doc' / 'source' / 'user'
DAY = datetime.timedelta(seconds=2)
# Long enough to be visible; a real cloud takes minutes.
SECONDS = {
    'server_action': 1,
    'server_creation': 1,
    'server_deletion': 1,
    'image': 2,
    'volume_creation': 1,
    'stack': 2,
}


class Cloud:
    """A simulated cloud whose changes are printed.

    :param seen: the kinds of objects to print, in the singular
    """

    def __init__(self, state: pathlib.Path, printer: Printer, *seen: str) -> None:
        self.simulated = SimulatedCloud(state / 'cloud', clock=CLOCK)
        for what, seconds in SECONDS.items():
            self.simulated.set_seconds(what, seconds)
        self._printer = printer
        self._seen = seen
        self._shown = self._look()
        self._changed = threading.Condition()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name='cloud', daemon=True)
        self._thread.start()

    def _look(self) -> dict[tuple[str, str], str]:
        return {
            (kind, each.name): _text(kind, each)
            for kind in self._seen
            for each in self.simulated.overview()[f'{kind}s']
        }

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            present = self._look()
            with self._changed:
                before, self._shown = self._shown, present
                self._changed.notify_all()
            for key in sorted(before.keys() | present.keys()):
                text = present.get(key, 'gone')
                if before.get(key, 'gone') != text:
                    self._printer.say(f'{" ".join(key)}: {text}', mark='  cloud: ')

    def wait_for(self, kind: str, name: str, status: str) -> None:
        """Wait until an object has a status; 'gone' if it is deleted.

        :raises stage.DemoFailed: if it does not get this status in time
        """
        with self._changed:
            found = self._changed.wait_for(
                lambda: self._shown.get((kind, name), 'gone').startswith(status), PATIENCE
            )
        expect(found, f'{kind} {name} is not {status}: {self._shown}')

    def close(self) -> None:
        """Stop watching."""
        self._ended.set()
        self._thread.join()
        self.simulated.close()


def _text(kind: str, thing: Any) -> str:
    if kind == 'server':
        place = f' on {thing.host}' if thing.host else ''
        return (thing.task_state or thing.status) + place
    return f'{thing.action}_{thing.status}' if kind == 'stack' else str(thing.status)


class Demonstration:
    """The common steps of the demonstrations."""

    def __init__(
        self, service: Service, url: str, bus: Bus, printer: Printer, cloud: Cloud
    ) -> None:
        self._state, self._url, self._bus, self._printer = service.state, url, bus, printer
        self.cloud = cloud

    def book(self, name: str, days_ahead: int, days: int) -> dict[str, Any]:
        """Book the lease of a page of the user guide, and return it."""
        body = json.loads((BODIES / f'{name}-lease.json').read_text())
        start = (CLOCK.now() + days_ahead * DAY).replace(microsecond=0)
        body['start_date'], body['end_date'] = _iso(start), _iso(start + days * DAY)
        self._printer.say(
            f'The body is doc/source/user/{name}-lease.json, with days of {DAY.seconds} seconds.'
        )
        lease: dict[str, Any] = ask(self._url, self._printer, 'POST', '/leases', body, '1.3')[
            'lease'
        ]
        for each in lease['reservations']:
            self._printer.say(f'booked: {each["resource_type"]}{_part(each)}')
        return lease

    def attach(self, volume: str, server: str) -> None:
        """Attach a volume to a server, as their owner does."""
        cloud = self.cloud.simulated
        (disk,) = (each for each in cloud.volumes.volumes() if each.name == volume)
        (machine,) = (each for each in cloud.servers() if each.name == server)
        self._printer.say(f'$ openstack server add volume {server} {volume}')
        cloud.volumes.attach(disk.id, machine.id)
        self.cloud.wait_for('volume', volume, 'in-use')

    def say(self, text: str) -> None:
        """Print an explanation."""
        self._printer.say(text)

    def await_start(self, days_ahead: int) -> None:
        """Wait until the lease is ACTIVE.

        :raises stage.DemoFailed: if it does not start
        """
        self._await('lease.event.start_lease', 'ACTIVE', days_ahead)

    def await_end(self, days: int) -> None:
        """Wait until the lease is TERMINATED.

        :raises stage.DemoFailed: if it does not end
        """
        self._await('lease.event.end_lease', 'TERMINATED', days)

    def _await(self, event_type: str, status: str, days: int) -> None:
        notification = self._bus.wait_for(event_type, (days * DAY).total_seconds() + PATIENCE)
        expect(notification['status'] == status, f'the lease is {notification["status"]}')
        self._printer.say(f'{status}')


def _part(reservation: dict[str, Any]) -> str:
    return ', the room for it' if reservation['part_of'] else ''


def _iso(instant: datetime.datetime) -> str:
    return instant.isoformat().replace('+00:00', 'Z')


def server(demo: Demonstration) -> None:
    """Show a lease of an existing server for five days."""
    demo.say('The server web is running. It is needed for five days, starting in four days.')
    demo.book('server', 4, 5)
    demo.cloud.wait_for('server', 'web', 'SHELVED_OFFLOADED')
    demo.say('It uses no capacity until the lease starts, and its room is booked.')
    demo.await_start(4)
    demo.cloud.wait_for('server', 'web', 'ACTIVE')
    demo.await_end(5)
    kept = [each.name for each in demo.cloud.simulated.images() if each.name == 'reserved_web']
    expect(bool(kept), 'there is no image of the server')
    demo.cloud.wait_for('server', 'web', 'gone')
    demo.say('Its image is kept: reserved_web. The server was deleted once the image was complete.')


def volume(demo: Demonstration) -> None:
    """Show a volume for a reserved server."""
    demo.say('A server and a volume for its data; the lease gets both or neither:')
    demo.book('volume', 3, 5)
    demo.await_start(3)
    demo.cloud.wait_for('volume', 'data', 'available')
    demo.cloud.wait_for('server', 'analyser', 'ACTIVE')
    demo.attach('data', 'analyser')
    demo.await_end(5)
    for kind, name in (('server', 'analyser'), ('volume', 'data')):
        demo.cloud.wait_for(kind, name, 'gone')
    demo.say('The server was deleted first, after its image was saved, and then the volume.')


def stack(demo: Demonstration) -> None:
    """Show a stack that is ready before its owner arrives."""
    demo.say('A course needs a stack, and has a template for it:')
    demo.book('stack', 3, 4)
    demo.say(
        'Climate has asked Heat for the contents of the stack and booked room for its servers.'
    )
    demo.await_start(3)
    demo.cloud.wait_for('stack', 'course', 'CREATE_COMPLETE')
    demo.say('The stack is running when the course begins.')
    demo.await_end(4)
    demo.cloud.wait_for('stack', 'course', 'gone')


DEMONSTRATIONS: dict[str, tuple[Callable[[Demonstration], None], tuple[str, ...]]] = {
    'server': (server, ('server', 'image')),
    'volume': (volume, ('server', 'volume')),
    'stack': (stack, ('stack',)),
}


def show(name: str, service: Service, url: str, bus: Bus, printer: Printer) -> None:
    """Show a use case.

    :param name: one of :data:`DEMONSTRATIONS`
    :raises stage.DemoFailed: if something does not happen as expected
    """
    demonstrate, seen = DEMONSTRATIONS[name]
    cloud = Cloud(service.state, printer, *seen)
    try:
        demonstrate(Demonstration(service, url, bus, printer, cloud))
    finally:
        cloud.close()
