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

"""``make demo``: one whole lease of two hosts, in under a minute.

Starts ``climate-standalone`` on a free port with its state in a temporary
directory, drives it with the stock client, and tells what happens line by
line, with the notifications as they come. Nothing is left behind, also when it
fails or is interrupted; the exit status says which.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from collections.abc import Sequence
from types import FrameType
from typing import Any

from climate.clients.fake import Twin
from climate.clock import SystemClock
from climate.messaging import follow
from climate.messaging import lines

BEFORE_START = (20, 10, 5)
# A little more than the first announcement, which has to lie ahead.
LEAD = datetime.timedelta(seconds=22)
LENGTH = datetime.timedelta(seconds=12)
BEFORE_END = datetime.timedelta(seconds=4)

_PATIENCE = 15.0
_CLOCK = SystemClock()


class DemoFailed(Exception):
    """Something did not happen as it should have."""


class Voice:
    """Says things, one line at a time, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def say(self, text: str, *, mark: str = '') -> None:
        """Say *text*, after the present time (UTC); further lines are indented."""
        first, *rest = text.splitlines() or ['(nothing)']
        stamp = _CLOCK.now().strftime('%H:%M:%S.%f')[:-4]
        with self._lock:
            print(f'{stamp}  {mark}{first}')
            for line in rest:
                print(f'             {line}')
            sys.stdout.flush()


def environment(folder: pathlib.Path, url: str = '') -> dict[str, str]:
    """Return the environment of what is started: nothing of another cloud in it.

    :param url: the endpoint the client is to use
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith('OS_')}
    kept['NO_PROXY'] = kept['no_proxy'] = '127.0.0.1'
    kept['OS_CLIENT_CONFIG_FILE'] = str(folder / 'no-clouds.yaml')
    if url:
        kept['OS_AUTH_TYPE'], kept['OS_ENDPOINT'] = 'none', url
    return kept


def command(name: str) -> str:
    """Return where the command *name* is: beside this Python, or anywhere.

    :raises DemoFailed: if it is nowhere
    """
    beside = pathlib.Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise DemoFailed(f'the command {name} is not installed; "make demo" installs it')
    return found


class Service:
    """``climate-standalone``, from its start to the last trace of it.

    :ivar url: where it answers
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.state = folder / 'state'
        self._folder = folder
        self._log = folder / 'service.log'
        with self._log.open('w') as output:
            # In a session of its own: Ctrl-C in the terminal is for the demo,
            # which then ends the service in good order.
            self._process = subprocess.Popen(
                [command('climate-standalone'), '--port=0', f'--state-dir={self.state}'],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment(folder),
                start_new_session=True,
            )

    def wait(self) -> str:
        """Return its address once it is ready.

        :raises DemoFailed: if it does not get ready
        """
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline and self._process.poll() is None:
            for line in self._log.read_text().splitlines():
                if line.startswith('Climate is ready at '):
                    return line.rpartition(' ')[2]
            time.sleep(0.05)
        raise DemoFailed('climate-standalone does not start')

    def stop(self) -> None:
        """End it, at the latest after six seconds."""
        self._process.terminate()
        try:
            self._process.wait(6)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def last_words(self) -> str:
        """Return the end of what it logged."""
        return '\n'.join(self._log.read_text().splitlines()[-15:])


class Bus:
    """The notifications, told as they come.

    The bus of the standalone service is inside its process; it writes what it
    sends into a file as well, which is read here as ``climate-watch`` does.
    """

    def __init__(self, path: pathlib.Path, voice: Voice) -> None:
        self._follower = follow.Follower(path, from_start=True)
        self._voice = voice
        self._seen: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, name='bus', daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while not self._ended.wait(0.02):
            for envelope in self._follower.read():
                project = envelope['payload']['project_id']
                text = lines.line(envelope).partition(f' of project {project}: ')[2]
                self._voice.say(f'{envelope["event_type"]}: {text}', mark='  bus: ')
                with self._changed:
                    self._seen.append(envelope)
                    self._changed.notify_all()

    def wait_for(self, event_type: str, seconds: float = _PATIENCE) -> dict[str, Any]:
        """Return the payload of the first notification of a type.

        :raises DemoFailed: if none comes within *seconds*
        """

        def found() -> dict[str, Any] | None:
            return next((one for one in self._seen if one['event_type'] == event_type), None)

        with self._changed:
            envelope = self._changed.wait_for(found, seconds)
        if not envelope:
            raise DemoFailed(f'no {event_type} came within {seconds:.0f} s')
        payload: dict[str, Any] = envelope['payload']
        return payload

    def count(self, event_type: str) -> int:
        """Return how many notifications of a type came."""
        with self._changed:
            return sum(one['event_type'] == event_type for one in self._seen)

    def close(self) -> None:
        """Stop listening."""
        self._ended.set()
        self._thread.join()
        self._follower.close()


class Client:
    """The stock client, told to use no authentication."""

    def __init__(self, folder: pathlib.Path, url: str, voice: Voice) -> None:
        self._program = command('openstack')
        self._environment = environment(folder, url)
        self._voice = voice

    def run(self, *arguments: str, refused: bool = False) -> str:
        """Run ``openstack reservation ...``, tell of it, and return its output.

        :param refused: whether it is meant to fail
        :raises DemoFailed: if it fails and is not meant to, or the other way round
        """
        shown = ' '.join(f"'{word}'" if ' ' in word else word for word in arguments)
        self._voice.say(f'$ openstack reservation {shown}')
        done = subprocess.run(
            [self._program, 'reservation', *arguments],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        output = done.stderr.strip().splitlines()[-1] if refused else done.stdout.strip()
        if (done.returncode != 0) != refused:
            raise DemoFailed(f'the client ended with {done.returncode}: {done.stderr or output}')
        self._voice.say(output)
        return output


def bring_nearer(url: str, lease_id: str, voice: Voice) -> None:
    """Let the lease start in seconds.

    :raises DemoFailed: if it is refused
    """
    start = (_CLOCK.now() + LEAD).replace(microsecond=0)
    end = start + LENGTH
    body = {
        'start_date': _iso(start),
        'end_date': _iso(end),
        'before_end_date': _iso(end - BEFORE_END),
        'notify_before_start': list(BEFORE_START),
    }
    voice.say(
        'The stock client speaks in minutes, and nobody wants to wait for minutes here:\n'
        'a plain request at microversion 1.1, which knows seconds, brings the dates nearer.'
    )
    voice.say(
        f'PUT {url}/leases/{lease_id}\nOpenStack-API-Version: reservation 1.1\n{json.dumps(body)}'
    )
    request = urllib.request.Request(
        f'{url}/leases/{lease_id}',
        data=json.dumps(body).encode(),
        method='PUT',
        headers={
            'Content-Type': 'application/json',
            'OpenStack-API-Version': 'reservation 1.1',
        },
    )
    # Whatever proxy the environment names, this is for the machine itself.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            voice.say(f'{answer.status} {answer.reason}')
    except urllib.error.HTTPError as error:
        raise DemoFailed(f'{error.code}: {error.read().decode()}') from None


def _iso(instant: datetime.datetime) -> str:
    return instant.isoformat().replace('+00:00', 'Z')


def pools(state: pathlib.Path) -> dict[str, list[str]]:
    """Return the hosts of every aggregate of the twin of a cloud, by name."""
    twin = Twin(state / 'cloud', clock=_CLOCK)
    try:
        return {aggregate.name: sorted(aggregate.hosts) for aggregate in twin.aggregates()}
    finally:
        twin.close()


def tell_pools(state: pathlib.Path, voice: Voice) -> dict[str, list[str]]:
    """Say which hosts are in which aggregate, and return it."""
    found = pools(state)
    text = [f'aggregate {name}: {", ".join(hosts) or "-"}' for name, hosts in found.items()]
    voice.say('In the twin of Nova:\n' + '\n'.join(text))
    return found


def expect(condition: bool, text: str) -> None:
    """Return if *condition* holds.

    :raises DemoFailed: if not
    """
    if not condition:
        raise DemoFailed(text)


def tell(service: Service, url: str, bus: Bus, client: Client, voice: Voice) -> None:
    """Tell the story of one lease."""
    client.run('host', 'list', '-c', 'id', '-c', 'hypervisor_hostname', '-c', 'vcpus')
    soon = _CLOCK.now() + datetime.timedelta(minutes=10)
    hosts = 'resource_type=physical:host,min={0},max={0}'
    later = soon + datetime.timedelta(minutes=10)
    dates = ('--start-date', f'{soon:%Y-%m-%d %H:%M}', '--end-date', f'{later:%Y-%m-%d %H:%M}')
    columns = ('-c', 'name', '-c', 'status', '-c', 'start_date', '-c', 'end_date')
    client.run('lease', 'create', 'demo', '--reservation', hosts.format(2), *dates, *columns)
    lease = bus.wait_for('lease.create')
    reservation_id = lease['reservations'][0]['id']
    bring_nearer(url, lease['lease_id'], voice)
    voice.say('Two of four hosts are booked. Whoever wants three of them then is refused:')
    too_many = ('lease', 'create', 'too-many', '--reservation', hosts.format(3))
    expect('Not enough hosts' in client.run(*too_many, refused=True), 'refused for another reason')

    started = bus.wait_for('lease.event.start_lease', LEAD.total_seconds() + _PATIENCE)
    expect(started['status'] == 'ACTIVE', f'the lease is {started["status"]}')
    voice.say(f'ACTIVE {started["late_by_seconds"]:.2f} s after its start')
    leased = tell_pools(service.state, voice).get(reservation_id, [])
    expect(len(leased) == 2, f'{len(leased)} hosts are leased')
    voice.say(
        f'{" and ".join(leased)} belong to the project now; servers get there with\n'
        f'openstack server create --hint reservation={reservation_id} ...'
    )
    client.run('lease', 'show', 'demo', *columns)

    ended = bus.wait_for('lease.event.end_lease', LENGTH.total_seconds() + _PATIENCE)
    expect(ended['status'] == 'TERMINATED', f'the lease is {ended["status"]}')
    voice.say(f'TERMINATED {ended["late_by_seconds"]:.2f} s after its end')
    given_back = tell_pools(service.state, voice)
    expect(list(given_back) == ['freepool'], 'the aggregate of the lease is still there')
    expect(len(given_back['freepool']) == 4, 'not all hosts were given back')
    voice.say('All hosts were given back.')
    client.run('lease', 'show', 'demo', *columns)
    expect(
        bus.count('lease.event.before_start_lease') == len(BEFORE_START),
        'not every announcement of the start came',
    )


@contextlib.contextmanager
def running(voice: Voice) -> Iterator[tuple[Service, str, pathlib.Path]]:
    """Run the service in a temporary directory, and take both away again.

    :raises DemoFailed: if something of it is left afterwards
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix='climate-demo-'))
    service: Service | None = None
    url = ''
    try:
        voice.say(f'Starting climate-standalone on a free port, with its state in {folder}')
        service = Service(folder)
        url = service.wait()
        voice.say(f'Climate is ready at {url}')
        yield service, url, folder
    except DemoFailed:
        if service is not None:
            voice.say(f'What the service said last:\n{service.last_words()}')
        raise
    finally:
        # Whoever is impatient must not keep this from being cleared away.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if service is not None:
            service.stop()
        shutil.rmtree(folder, ignore_errors=True)
    port = int(url.rpartition(':')[2].partition('/')[0])
    with socket.socket() as probe:
        expect(probe.connect_ex(('127.0.0.1', port)) != 0, f'port {port} is still in use')
    expect(not folder.exists(), f'{folder} could not be removed')
    voice.say('The service has ended, its port is free, its directory is gone.')


def demonstrate(voice: Voice) -> None:
    """Run the whole demonstration.

    :raises DemoFailed: if something did not happen as it should have
    """
    began = time.monotonic()
    with running(voice) as (service, url, folder):
        voice.say(f'$ export OS_AUTH_TYPE=none OS_ENDPOINT={url}')
        client = Client(folder, url, voice)
        bus = Bus(service.state / 'notifications.jsonl', voice)
        try:
            tell(service, url, bus, client, voice)
        finally:
            bus.close()
    voice.say(f'One whole lease in {time.monotonic() - began:.0f} s.')


def _interrupted(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main(_argv: Sequence[str] = ()) -> int:
    """Run the command; return its exit status."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    try:
        demonstrate(Voice())
    except (DemoFailed, subprocess.SubprocessError, OSError) as error:
        print(f'The demo failed: {error}', file=sys.stderr)
        return 1
    except SystemExit:
        print('The demo was interrupted; nothing of it is left.', file=sys.stderr)
        raise
    return 0


if __name__ == '__main__':
    sys.exit(main())
