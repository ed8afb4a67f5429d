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
"""What the tests on a real cloud have in common.

The last three compute hosts of the cloud can be registered for a test; the
first two are ordinary ones, so that servers without a lease have a place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests import base
from tests.cloud.bus import Bus
from tests.cloud.house import House
from tests.cloud.house import PREFIX
from tests.cloud.people import Person
from tests.cloud.people import time
from tests.cloud.people import within
from tests.clouds import find_cloud
from tests.waiting import until

ORDINARY = 2
# How long after its time a lease may start or end when nothing is wrong: a
# bound for tests on a machine that does much else. The real figures are
# measured by the benchmarks.
PROMPT = 10.0


class CloudTest(base.TestCase):
    """A test on the real cloud, which it leaves as it found it.

    :ivar house: the processes of the cloud, to be stopped and started
    :ivar bus: what subscribers hear
    :ivar lent: hosts that are registered, by name
    """

    # How many hosts are registered.
    hosts = 1

    def setUp(self) -> None:
        """Log everybody in and register the hosts."""
        self.cloud = find_cloud()
        super().setUp()
        self.admin = self.person('admin')
        self.alice = self.person('alice')
        self.bob = self.person('bob')
        self.house = self.useFixture(House(self.cloud, self.admin))
        self.bus = self.useFixture(Bus(self.cloud))
        self.lent = self.cloud.hosts[ORDINARY : ORDINARY + self.hosts]
        self.assertEqual(self.hosts, len(self.lent), 'the cloud has too few hosts')
        for host in self.lent:
            self.admin.register(host)

    def person(self, name: str) -> Person:
        """Return a user with a login of its own."""
        person = Person(self.cloud, name)
        self.addCleanup(person.sdk.close)
        return person

    # -- leases

    def book(
        self,
        person: Person,
        start: float,
        seconds: float = 600.0,
        *,
        hosts: int = 1,
        before_end: str = '',
        notify: Sequence[int] = (),
        **more: Any,
    ) -> dict[str, Any]:
        """Book a lease of hosts.

        :param start: in so many seconds
        :param seconds: how long it is to last
        :param before_end: the action before its end
        :param notify: seconds before the start at which subscribers are told
        """
        return person.create_lease(self.wish(start, seconds, hosts, before_end, notify) | more)

    def wish(
        self,
        start: float,
        seconds: float = 600.0,
        hosts: int = 1,
        before_end: str = '',
        notify: Sequence[int] = (),
    ) -> dict[str, Any]:
        """Return the body of a request for a lease."""
        begins = within(start)
        return {
            'name': f'{PREFIX}{self.id().rpartition(".")[2]}',
            'start_date': begins.isoformat(),
            'duration': f'{seconds:.0f}s',
            'notify_before_start': list(notify),
            'reservations': [
                {
                    'resource_type': 'physical:host',
                    'min': hosts,
                    'max': hosts,
                    'before_end': before_end,
                }
            ],
        }

    def await_status(
        self, person: Person, lease: dict[str, Any], status: str, seconds: float
    ) -> dict[str, Any]:
        """Return the lease as soon as it is in a status.

        :param seconds: from now
        """

        def found() -> dict[str, Any] | None:
            seen = person.lease(lease['id'])
            return seen if seen['status'] == status else None

        return until(found, seconds, f'lease {lease["id"]} is {status}')

    def await_active(self, person: Person, lease: dict[str, Any]) -> dict[str, Any]:
        """Return the lease when it has started, as promptly as it should."""
        return self.await_status(person, lease, 'ACTIVE', self.left(lease, 'start_date'))

    def await_terminated(self, person: Person, lease: dict[str, Any]) -> dict[str, Any]:
        """Return the lease when it has ended, as promptly as it should."""
        return self.await_status(person, lease, 'TERMINATED', self.left(lease, 'end_date'))

    def left(self, lease: dict[str, Any], date: str) -> float:
        """Return the seconds until something prompt must have happened at a date."""
        return (time(lease[date]) - within(0)).total_seconds() + PROMPT

    def await_gone(self, person: Person, lease: dict[str, Any], seconds: float = 30.0) -> None:
        """Return when a deleted lease is not there any more."""
        until(lambda: not person.knows(lease['id']), seconds, f'{lease["id"]} is deleted')

    # -- servers and hosts

    def boot(self, person: Person, lease: dict[str, Any] | None = None, **more: Any) -> str:
        """Ask for a server; with a lease, on one of its hosts. Return its id."""
        hint = reservation(lease) if lease else None
        return person.boot(f'{PREFIX}{person.name}', reservation=hint, **more)

    def host_of(self, server_id: str) -> str:
        """Return the host on which a server runs."""
        return str(self.admin.sdk.compute.get_server(server_id).compute_host)

    def servers_on(self, host: str) -> list[str]:
        """Return the ids of the servers of anybody on a host."""
        found = self.admin.sdk.compute.servers(all_projects=True, host=host)
        return [each.id for each in found]

    def aggregate(self, name: str) -> Any:
        """Return an aggregate by its name; None if there is none."""
        for each in self.admin.sdk.compute.aggregates():
            if each.name == name:
                return each
        return None

    def members(self, name: str) -> list[str]:
        """Return the hosts in an aggregate; none if it does not exist."""
        found = self.aggregate(name)
        return sorted(found.hosts or ()) if found else []

    def assert_free(self, hosts: Sequence[str], lease: dict[str, Any]) -> None:
        """Hosts are back in the pool, empty, and nothing is left of a lease."""
        self.assertIsNone(self.aggregate(reservation(lease)))
        self.assertLessEqual(set(hosts), set(self.members(self.cloud.freepool)))
        for host in hosts:
            self.assertEqual([], self.servers_on(host), host)

    def compute_service(self, host: str) -> Any:
        """Return Nova's record of the compute service of a host."""
        return next(self.admin.sdk.compute.services(host=host, binary='nova-compute'))

    def compute_process(self, host: str) -> str:
        """Return the name of the process that is a compute host."""
        return f'nova-compute-{self.cloud.hosts.index(host) + 1}'

    def refused(self, response: Any) -> str:
        """Return the message of an error that Climate answered with."""
        return str(response.json()['error_message'])


def reservation(lease: dict[str, Any]) -> str:
    """Return the id of the reservation of a lease of hosts: the hint, and the aggregate."""
    return str(lease['reservations'][0]['id'])
