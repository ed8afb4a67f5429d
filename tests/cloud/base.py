# SPDX-License-Identifier: Apache-2.0
"""What the tests on a real cloud have in common.

Each class works at a site of the cloud: a Climate with projects, users and
hosts of its own, beside which other classes work at theirs. Those that stop
what all sites lean on, or configure it, have the cloud to themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import ClassVar
from typing import TypeVar

from tests import base
from tests.cloud.bus import Bus
from tests.cloud.house import House
from tests.cloud.house import Picture
from tests.cloud.house import PREFIX
from tests.cloud.people import Person
from tests.cloud.people import soon
from tests.cloud.people import time
from tests.cloud.people import within
from tests.cloud.places import occupied
from tests.cloud.waiting import until
from tests.clouds import find_cloud
from tools.cloud import services
from tools.cloud.state import Cloud

# How long after its time a lease is awaited that starts or ends when nothing is
# wrong, on a machine that does much else. The real figures are measured by the
# benchmarks.
PROMPT = 90.0


Test = TypeVar('Test', bound=Callable[..., None])


def smoke(test: Test) -> Test:
    """Mark a test as one of the few that every change has to pass."""
    test.smoke = True  # type: ignore[attr-defined]  # functions have any attribute
    return test


class CloudTest(base.TestCase):
    """A test on the real cloud, which it leaves as it found it.

    :cvar cloud: as it is seen from the site where the class works
    :ivar house: the processes of the cloud, to be stopped and started
    :ivar bus: what subscribers receive
    :ivar lent: hosts that are registered, by name
    """

    # How many hosts are registered.
    hosts = 1
    # Whether nobody else may work in the cloud meanwhile.
    alone = False
    # The only site at which it can work; any, if there is none.
    site: int | None = None

    cloud: ClassVar[Cloud]
    admin: ClassVar[Person]
    alice: ClassVar[Person]
    bob: ClassVar[Person]
    # How the cloud was before the class, and has to be after each test.
    _before: ClassVar[Picture | None]

    @classmethod
    def setUpClass(cls) -> None:
        """Find a place to work at, and log everybody in."""
        super().setUpClass()
        place = occupied(find_cloud(), site=cls.site, alone=cls.alone)
        cls.cloud = cls.enterClassContext(place)
        for name in ('admin', 'alice', 'bob'):
            person = Person(cls.cloud, name)
            cls.addClassCleanup(person.sdk.close)
            setattr(cls, name, person)
        cls._before = None

    def id(self) -> str:
        """Return the name of the test, with the marks by which it is chosen."""
        marks = ('alone',) * self.alone
        # Not of those that are tried again in another way.
        if hasattr(type(self).__dict__.get(self._testMethodName), 'smoke'):
            marks += ('smoke',)
        return super().id() + (f'[{",".join(marks)}]' if marks else '')

    def setUp(self) -> None:
        """Register the hosts."""
        super().setUp()
        self.house = House(self.cloud, self.admin, before=self._before, alone=self.alone)
        type(self)._before = None
        self.addCleanup(self._remember)
        self.useFixture(self.house)
        self.bus = self.useFixture(Bus(self.cloud))
        self.lent = self.cloud.site_hosts[: self.hosts]
        self.assertEqual(self.hosts, len(self.lent), 'the site has too few hosts')
        for host in self.lent:
            self.admin.register(host)

    def person(self, name: str) -> Person:
        """Return a user with a login of its own."""
        person = Person(self.cloud, name)
        self.addCleanup(person.sdk.close)
        return person

    def _remember(self) -> None:
        """Spare the next test of the class a look at what this one has compared."""
        type(self)._before = self.house.before if self.house.in_order else None

    def reservable(self, host: str) -> bool:
        """Whether a host is chosen for new leases."""
        (found,) = (each for each in self.admin.hosts() if each['hypervisor_hostname'] == host)
        return bool(found['reservable'])

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
        :param notify: seconds before the start at which subscribers are notified
        """
        return person.create_lease(
            self.lease_body(start, seconds, hosts, before_end, notify) | more
        )

    def lease_body(
        self,
        start: float,
        seconds: float = 600.0,
        hosts: int = 1,
        before_end: str = '',
        notify: Sequence[int] = (),
    ) -> dict[str, Any]:
        """Return the body of a request for a lease."""
        begins = soon(start)
        wanted = {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}
        dates = {'start_date': begins.isoformat(), 'duration': f'{seconds:.0f}s'}
        facts = {'name': f'{PREFIX}{self._testMethodName}', 'notify_before_start': list(notify)}
        return {**facts, **dates, 'reservations': [{**wanted, 'before_end': before_end}]}

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

    def end_now(self, person: Person, lease: dict[str, Any]) -> dict[str, Any]:
        """Have a lease end in a moment, and return it as it is then.

        A lease that was booked for long cannot end before the test has looked at
        it, however busy the machine is.
        """
        return person.update_lease(lease['id'], end_date=soon(2).isoformat())

    def is_past(self, lease: dict[str, Any], date: str, seconds: float = 2.0) -> bool:
        """Return whether a date of a lease is so many seconds ago."""
        return time(lease[date]) < within(-seconds)

    def left(self, lease: dict[str, Any], date: str) -> float:
        """Return how long to wait for what is due at a date, in seconds."""
        return (time(lease[date]) - within(0)).total_seconds() + PROMPT

    def await_gone(self, person: Person, lease: dict[str, Any], seconds: float = PROMPT) -> None:
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
        found = self.admin.sdk.compute.servers(all_projects=True, compute_host=host)
        return [each.id for each in found]

    def aggregate(self, name: str) -> Any:
        """Return an aggregate by its name; None if there is none."""
        for each in self.admin.sdk.compute.aggregates():
            if each.name == name:
                return each
        return None

    def members(self, name: str) -> list[str]:
        """Return the hosts of this site in an aggregate; none if it does not exist."""
        found = self.aggregate(name)
        return sorted(self.house.ours & set(found.hosts or ())) if found else []

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
        return services.compute(self.cloud.hosts.index(host) + 1)

    def refused(self, response: Any) -> str:
        """Return the message of an error that Climate answered with."""
        return str(response.json()['error_message'])


def reservation(lease: dict[str, Any]) -> str:
    """Return the id of the reservation of a lease of hosts: the hint, and the aggregate."""
    return str(lease['reservations'][0]['id'])
