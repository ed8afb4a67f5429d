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

"""The common uses that ``make demo USE_CASE=...`` plays, beside that of whole hosts.

Each takes its lease from the page of the guide, and shortens the days in it to seconds.
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
from stage import Service
from stage import Voice

from climate.clients.fake import Twin

BODIES = pathlib.Path(__file__).parents[1] / 'doc' / 'source' / 'user'
DAY = datetime.timedelta(seconds=2)
# Long enough to be seen: they take minutes in a real cloud.
SECONDS = {
    'server_action': 1,
    'server_creation': 1,
    'server_deletion': 1,
    'image': 2,
    'volume_creation': 1,
    'stack': 2,
}


class Cloud:
    """The simulated cloud, told of as it changes.

    :param seen: kinds of things that are told of, in the singular
    """

    def __init__(self, state: pathlib.Path, voice: Voice, *seen: str) -> None:
        self.twin = Twin(state / 'cloud', clock=CLOCK)
        for what, seconds in SECONDS.items():
            self.twin.set_seconds(what, seconds)
        self._voice = voice
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
            for each in self.twin.overview()[f'{kind}s']
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
                    self._voice.say(f'{" ".join(key)}: {text}', mark='  cloud: ')

    def wait_for(self, kind: str, name: str, status: str) -> None:
        """Return when a thing has a status; 'gone' if it is.

        :raises stage.DemoFailed: if it does not come to that
        """
        with self._changed:
            found = self._changed.wait_for(
                lambda: self._shown.get((kind, name), 'gone').startswith(status), PATIENCE
            )
        expect(found, f'{kind} {name} is not {status}: {self._shown}')

    def close(self) -> None:
        """Watch no longer."""
        self._ended.set()
        self._thread.join()
        self.twin.close()


def _text(kind: str, thing: Any) -> str:
    if kind == 'server':
        place = f' on {thing.host}' if thing.host else ''
        return (thing.task_state or thing.status) + place
    return f'{thing.action}_{thing.status}' if kind == 'stack' else str(thing.status)


class Play:
    """What the stories have in common."""

    def __init__(self, service: Service, url: str, bus: Bus, voice: Voice, cloud: Cloud) -> None:
        self._state, self._url, self._bus, self._voice = service.state, url, bus, voice
        self.cloud = cloud

    def book(self, name: str, days_ahead: int, days: int) -> dict[str, Any]:
        """Book the lease of a page, and return it."""
        body = json.loads((BODIES / f'{name}-lease.json').read_text())
        start = (CLOCK.now() + days_ahead * DAY).replace(microsecond=0)
        body['start_date'], body['end_date'] = _iso(start), _iso(start + days * DAY)
        self._voice.say(
            f'The body is doc/source/user/{name}-lease.json, with days of {DAY.seconds} seconds.'
        )
        lease: dict[str, Any] = ask(self._url, self._voice, 'POST', '/leases', body, '1.3')['lease']
        for each in lease['reservations']:
            self._voice.say(f'booked: {each["resource_type"]}{_part(each)}')
        return lease

    def attach(self, volume: str, server: str) -> None:
        """Do what the owner of both does."""
        twin = self.cloud.twin
        (disk,) = (each for each in twin.volumes.volumes() if each.name == volume)
        (machine,) = (each for each in twin.servers() if each.name == server)
        self._voice.say(f'$ openstack server add volume {server} {volume}')
        twin.volumes.attach(disk.id, machine.id)
        self.cloud.wait_for('volume', volume, 'in-use')

    def say(self, text: str) -> None:
        """Tell what is to be seen now."""
        self._voice.say(text)

    def await_start(self, days_ahead: int) -> None:
        """Return when the lease is ACTIVE.

        :raises stage.DemoFailed: if it does not start
        """
        self._await('lease.event.start_lease', 'ACTIVE', days_ahead)

    def await_end(self, days: int) -> None:
        """Return when the lease is TERMINATED.

        :raises stage.DemoFailed: if it does not end
        """
        self._await('lease.event.end_lease', 'TERMINATED', days)

    def _await(self, event_type: str, status: str, days: int) -> None:
        told = self._bus.wait_for(event_type, (days * DAY).total_seconds() + PATIENCE)
        expect(told['status'] == status, f'the lease is {told["status"]}')
        self._voice.say(f'{status}')


def _part(reservation: dict[str, Any]) -> str:
    return ', the room for it' if reservation['part_of'] else ''


def _iso(instant: datetime.datetime) -> str:
    return instant.isoformat().replace('+00:00', 'Z')


def server(play: Play) -> None:
    """Tell of a server for five days from tomorrow."""
    play.say('The server web runs. It is needed for five days, and not before four days from now.')
    play.book('server', 4, 5)
    play.cloud.wait_for('server', 'web', 'SHELVED_OFFLOADED')
    play.say('It costs nothing until the lease starts, and its room is booked.')
    play.await_start(4)
    play.cloud.wait_for('server', 'web', 'ACTIVE')
    play.await_end(5)
    kept = [each.name for each in play.cloud.twin.images() if each.name == 'reserved_web']
    expect(bool(kept), 'there is no image of the server')
    play.cloud.wait_for('server', 'web', 'gone')
    play.say('Its image is kept: reserved_web. The server was deleted when that was complete.')


def volume(play: Play) -> None:
    """Tell of a volume for a reserved server."""
    play.say('A server and a volume for its data, both or neither:')
    play.book('volume', 3, 5)
    play.await_start(3)
    play.cloud.wait_for('volume', 'data', 'available')
    play.cloud.wait_for('server', 'analyser', 'ACTIVE')
    play.attach('data', 'analyser')
    play.await_end(5)
    for kind, name in (('server', 'analyser'), ('volume', 'data')):
        play.cloud.wait_for(kind, name, 'gone')
    play.say('The server went first, with its image, and then the volume.')


def stack(play: Play) -> None:
    """Tell of a stack that is ready before its owner arrives."""
    play.say('A course needs a stack, for which somebody has a template:')
    play.book('stack', 3, 4)
    play.say('What Heat would make of it was looked up, and room for its servers is booked.')
    play.await_start(3)
    play.cloud.wait_for('stack', 'course', 'CREATE_COMPLETE')
    play.say('Whoever comes now finds it at work.')
    play.await_end(4)
    play.cloud.wait_for('stack', 'course', 'gone')


PLAYS: dict[str, tuple[Callable[[Play], None], tuple[str, ...]]] = {
    'server': (server, ('server', 'image')),
    'volume': (volume, ('server', 'volume')),
    'stack': (stack, ('stack',)),
}


def tell(name: str, service: Service, url: str, bus: Bus, voice: Voice) -> None:
    """Tell the story of one common use.

    :param name: one of :data:`PLAYS`
    :raises stage.DemoFailed: if something does not happen as it should
    """
    story, seen = PLAYS[name]
    cloud = Cloud(service.state, voice, *seen)
    try:
        story(Play(service, url, bus, voice, cloud))
    finally:
        cloud.close()
