# SPDX-License-Identifier: Apache-2.0

"""``make demo``: a whole lease in under a minute.

Leases two hosts, or shows another common use: ``make demo USE_CASE=server``.

Starts ``climate-standalone`` on a free port with its state in a temporary directory,
drives it with ``openstack lease``, and prints each step, with the notifications as they
arrive and the mail that says what the project has and how to use it. Leaves nothing
behind, even if it fails or is interrupted; the exit status distinguishes the two.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import email
import email.policy
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from collections.abc import Sequence
from types import FrameType

import use_cases
from stage import Bus
from stage import Client
from stage import CLOCK
from stage import DemoFailed
from stage import expect
from stage import PATIENCE
from stage import Printer
from stage import Service

from climate.simulator import SimulatedCloud

HOSTS = 'hosts'
BEFORE_START = (20, 10, 5)
# Longer than the first announcement before the start, which must be in the future when the
# request arrives: the client takes seconds to begin.
LEAD = datetime.timedelta(seconds=30)


def pools(state: pathlib.Path) -> dict[str, list[str]]:
    """Return the hosts of every aggregate of the simulated cloud, by name."""
    cloud = SimulatedCloud(state / 'cloud', clock=CLOCK)
    try:
        return {aggregate.name: sorted(aggregate.hosts) for aggregate in cloud.aggregates()}
    finally:
        cloud.close()


def print_pools(state: pathlib.Path, printer: Printer) -> dict[str, list[str]]:
    """Print the hosts of each aggregate, and return them."""
    found = pools(state)
    text = [f'aggregate {name}: {", ".join(hosts) or "-"}' for name, hosts in found.items()]
    printer.say('In the simulated Nova:\n' + '\n'.join(text))
    return found


def show(service: Service, bus: Bus, client: Client, printer: Printer) -> None:
    """Show one lease from its creation to its end."""
    hosts = ('--type', 'physical:host', '-c', 'Name', '-c', 'Type')
    client.run('reservable', 'resource', 'list', *hosts)
    announced = [word for seconds in BEFORE_START for word in ('--notify-before', f'{seconds}s')]
    columns = ('-c', 'name', '-c', 'status', '-c', 'start_date', '-c', 'end_date')
    dates = ('--at', f'+{LEAD.seconds}s', '--for', '1h')
    client.run('lease', 'create', 'demo', '--hosts', '2', *dates, *announced, *columns)
    reservation_id = bus.wait_for('lease.create')['reservations'][0]['id']
    printer.say('Two of four hosts are booked. A request for three is refused, with offers:')
    too_many = ('lease', 'create', 'too-many', '--hosts', '3', '--for', '1h')
    refusal = client.run(*too_many, refused=True)
    expect('Not enough hosts' in refusal, 'refused for another reason')

    started = bus.wait_for('lease.event.start_lease', LEAD.total_seconds() + PATIENCE)
    expect(started['status'] == 'ACTIVE', f'the lease is {started["status"]}')
    printer.say(f'ACTIVE {started["late_by_seconds"]:.2f} s after its start')
    leased = print_pools(service.state, printer).get(reservation_id, [])
    expect(len(leased) == 2, f'{len(leased)} hosts are leased')
    client.run('lease', 'show', 'demo', *columns)

    printer.say('If you are done before the end, return the hosts, so that others can use them:')
    client.run('lease', 'end', 'demo', '--now', *columns)
    ended = bus.wait_for('lease.event.end_lease')
    expect(ended['status'] == 'TERMINATED', f'the lease is {ended["status"]}')
    printer.say(f'TERMINATED {ended["late_by_seconds"]:.2f} s after its end')
    released = print_pools(service.state, printer)
    expect(list(released) == ['freepool'], 'the aggregate of the lease is still there')
    expect(len(released['freepool']) == 4, 'not all hosts were released')
    printer.say('All hosts were released.')
    expect(
        bus.count('lease.event.before_start_lease') == len(BEFORE_START),
        'an announcement of the start is missing',
    )
    text = mail(service.state, 'has started')
    expect(reservation_id in text, 'the mail about the start does not say what the project has')
    printer.say(f'When the lease started, its owner received this mail:\n{text}')


def mail(state: pathlib.Path, about: str) -> str:
    """Return the text of a mail that the service has written.

    :param about: words in its subject
    :raises DemoFailed: if there is none
    """
    for file in sorted((state / 'mail').glob('*.eml')):
        found = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        if about in found['Subject']:
            part = found.get_body(('plain',))
            return '' if part is None else str(part.get_content()).strip()
    raise DemoFailed(f'no mail is about {about}')


@contextlib.contextmanager
def running(printer: Printer) -> Iterator[tuple[Service, str, pathlib.Path]]:
    """Run the service in a temporary directory, and clean up afterwards.

    :raises DemoFailed: if the port is still in use, or the directory still exists
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix='climate-demo-'))
    service: Service | None = None
    url = ''
    try:
        printer.say(f'Starting climate-standalone on a free port with its state in {folder}')
        service = Service(folder)
        url = service.wait()
        printer.say(f'Climate is ready at {url}')
        yield service, url, folder
    except DemoFailed:
        if service is not None:
            printer.say(f'Last log lines of the service:\n{service.log_tail()}')
        raise
    finally:
        # A second Ctrl-C must not interrupt the cleanup.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if service is not None:
            service.stop()
        shutil.rmtree(folder, ignore_errors=True)
    port = int(url.rpartition(':')[2].partition('/')[0])
    with socket.socket() as probe:
        expect(probe.connect_ex(('127.0.0.1', port)) != 0, f'port {port} is still in use')
    expect(not folder.exists(), f'{folder} could not be removed')
    printer.say('The service has stopped, its port is free, its directory is removed.')


def demonstrate(printer: Printer, use_case: str) -> None:
    """Run the whole demonstration.

    :raises DemoFailed: if something did not happen as expected
    """
    began = time.monotonic()
    with running(printer) as (service, url, folder):
        printer.say(f'$ export OS_AUTH_TYPE=none OS_ENDPOINT={url}')
        bus = Bus(service.state / 'notifications.jsonl', printer)
        try:
            if use_case in use_cases.DEMONSTRATIONS:
                use_cases.show(use_case, service, url, bus, printer)
            else:
                show(service, bus, Client(folder, url, printer), printer)
        finally:
            bus.close()
    printer.say(f'A whole lease in {time.monotonic() - began:.0f} s.')


def _interrupted(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    choices = (HOSTS, *use_cases.DEMONSTRATIONS)
    parser.add_argument('use_case', nargs='?', default=HOSTS, choices=choices)
    use_case = parser.parse_args(argv).use_case
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    try:
        demonstrate(Printer(), use_case)
    except (DemoFailed, subprocess.SubprocessError, OSError) as error:
        print(f'The demo failed: {error}', file=sys.stderr)
        return 1
    except SystemExit:
        print('The demo was interrupted and cleaned up.', file=sys.stderr)
        raise
    return 0


if __name__ == '__main__':
    sys.exit(main())
