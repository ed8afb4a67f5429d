# SPDX-License-Identifier: Apache-2.0

"""Things of a project over HTTP: nobody else sees them, and they go when they are not needed."""

from __future__ import annotations

import concurrent.futures
import datetime
from typing import Any
from typing import ClassVar

import sqlalchemy as sa

from climate import exceptions
from climate.cloud.protocols.stacks import StackDraft
from climate.db.administration import purge
from climate.db.schema import tables
from climate.enforcement.base import Filter
from climate.enforcement.base import FilterQuestion
from climate.enforcement.filters import Filters
from climate.resources.aliases import Aliases
from tests import base
from tests import services
from tests.databases import fetch
from tests.functional import bodies
from tests.functional import fixtures
from tests.functional import http
from tests.functional.manager.walk.stacks import SMALL

_RESOURCES = tables.RESOURCES
_SECRETS = tables.SECRETS
BLUE, RED, ADMIN = 'alice:blue:member', 'bob:red:member', http.ADMIN
HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


class Refuses(Filter):
    """Refuses every lease."""

    @classmethod
    def from_conf(cls, conf: Any) -> Refuses:
        """Return it."""
        return cls()

    def check_create(self, question: FilterQuestion) -> None:
        """Refuse."""
        raise exceptions.LimitExceeded('no')

    def check_update(self, question: FilterQuestion) -> None:
        """Refuse."""
        raise exceptions.LimitExceeded('no')


class RefusesSlowly(Refuses):
    """Waits for something outside of the process before it refuses."""

    waits: ClassVar[bool] = True


class ThingCase(base.TestCase):
    """A service in which projects have volumes of their own."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.service = self.start()
        for user, project in (('alice', 'blue'), ('bob', 'red')):
            self.service.cloud.put_member(user, project, 'member')

    def start(self, filters: Filters | None = None) -> fixtures.Service:
        """Return a service."""
        return self.useFixture(fixtures.Service(database=self.kind, filters=filters))

    def volume(self, project: str = 'blue') -> str:
        """Let a project have a volume, and return its id."""
        volume_id = self.service.cloud.of_caller(f'x:{project}').volume.create_volume('data', 1)
        self.service.clock.move_to(self.service.clock.now() + datetime.timedelta(minutes=1))
        return volume_id

    def send(self, method: str, path: str, body: Any = None, token: str = BLUE) -> Any:
        """Send a request."""
        return http.send(self.service.app, method, path, body, token=token, version='1.3')

    def lease(self, *reservations: dict[str, Any], token: str = BLUE, day: int = 1) -> Any:
        """Ask for a lease of a day in February."""
        body = bodies.lease(
            'l', f'2030-02-{day:02}T00:00:00Z', f'2030-02-{day + 1:02}T00:00:00Z', *reservations
        )
        return self.send('POST', '/v1/leases', body, token)

    def take(self, volume_id: str, token: str = BLUE, day: int = 1) -> Any:
        """Book a volume."""
        wish = {'resource_type': 'virtual:volume', 'volume_id': volume_id}
        return http.expect(201, self.lease(wish, token=token, day=day)).json['lease']

    def rows(self) -> list[str]:
        """Return the names of the rows of things."""
        query = sa.select(_RESOURCES.c.name).where(
            _RESOURCES.c.resource_type.in_(['virtual:volume', 'virtual:stack'])
        )
        with self.service.store.engine.connect() as connection:
            return sorted(connection.scalars(query))


@services.on_each_engine(prefix='TestSeen', engines=services.DATABASE_SERVERS)
class TestSeenSqlite(ThingCase):
    """Who sees what, and what is left behind."""

    def test_no_other_project_sees_a_thing(self) -> None:
        """In lists and calendars, by id, by name, as a marker."""
        mine, theirs = self.volume(), self.volume('red')
        self.take(mine)
        lease = self.take(theirs, RED)
        everything = self.send('GET', '/v1/resources?type=virtual:volume', token=ADMIN).json
        numbers = {one['name']: one['id'] for one in everything['resources']}
        self.assertEqual({mine, theirs}, set(numbers))
        for path in (
            '/v1/resources?type=virtual:volume',
            '/v1/resources',
            '/v1/resources/allocations',
            f'/v1/resources?name={theirs}',
            f'/v1/resources/allocations?lease_id={lease["id"]}',
        ):
            text = self.send('GET', path).text
            for secret in (theirs, lease['id'], lease['reservations'][0]['id']):
                self.assertNotIn(secret, text, path)
            self.assertNotIn(f'"{numbers[theirs]}"', text, path)
        self.assertIn(mine, self.send('GET', '/v1/resources/allocations').text)
        number, unknown = numbers[theirs], '99999'
        for path in ('/v1/resources/{}', '/v1/resources/{}/allocations', '/v1/resources?marker={}'):
            found, missing = (self.send('GET', path.format(one)) for one in (number, unknown))
            self.assertEqual(missing.status_int, found.status_int, path)
            self.assertEqual(missing.text.replace(unknown, number), found.text, path)
            self.assertEqual(200, self.send('GET', path.format(number), token=RED).status_int)

    def test_what_is_handed_over_is_seen_by_who_has_it(self) -> None:
        volume_id = self.volume()
        self.take(volume_id)
        self.service.store.run(lambda tx: tx.things.ensure('virtual:volume', volume_id, 'red'))
        self.assertIn(volume_id, self.send('GET', '/v1/resources', token=RED).text)
        self.assertNotIn(volume_id, self.send('GET', '/v1/resources').text)

    def test_a_refused_booking_leaves_no_row(self) -> None:
        """With and without a filter that waits; what was there before stays."""
        volume_id = self.volume()
        wish = {'resource_type': 'virtual:volume', 'volume_id': volume_id}
        self.assertEqual(409, self.lease(wish, {**HOST, 'min': 9, 'max': 9}).status_int)
        self.assertEqual([], self.rows())
        self.take(volume_id)
        self.assertEqual(409, self.lease(wish).status_int)
        self.assertEqual([volume_id], self.rows())

    def test_nor_does_one_that_a_filter_refuses(self) -> None:
        for filter_ in (Refuses(), RefusesSlowly()):
            self.service = self.start(Filters({'filter': filter_}))
            wish = {'resource_type': 'virtual:volume', 'volume_id': self.volume()}
            self.assertEqual(403, self.lease(wish).status_int)
            self.assertEqual([], self.rows(), type(filter_).__name__)

    def test_things_go_with_their_last_lease(self) -> None:
        volume_id, other = self.volume(), self.volume()
        first, second = self.take(volume_id), self.take(volume_id, day=3)
        self.take(other)
        much_later = self.service.clock.now() + datetime.timedelta(days=365)
        for lease, left in ((first, [other, volume_id]), (second, [other])):
            self.assertEqual(204, self.send('DELETE', f'/v1/leases/{lease["id"]}').status_int)
            self.service.work()
            self.service.clock.move_to(self.service.clock.now() + datetime.timedelta(minutes=1))
            purge.purge(self.service.store, much_later)
            self.assertEqual(sorted(left), self.rows())

    def test_an_admin_can_delete_a_thing(self) -> None:
        """Once nobody has it; tenants cannot."""
        volume_id = self.volume()
        lease = self.take(volume_id)
        (found,) = self.send('GET', '/v1/resources?type=virtual:volume').json['resources']
        path = f'/v1/resources/{found["id"]}'
        self.assertEqual(403, self.send('DELETE', path).status_int)
        self.assertEqual(409, self.send('DELETE', path, token=ADMIN).status_int)
        self.send('DELETE', f'/v1/leases/{lease["id"]}')
        self.service.work()
        self.assertEqual(204, self.send('DELETE', path, token=ADMIN).status_int)
        self.assertEqual(404, self.send('GET', path, token=ADMIN).status_int)
        self.take(volume_id)

    def test_processes_share_one_secret(self) -> None:
        """Of many that need one at once, one makes it."""
        taken = self.taken()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = set(
                pool.map(lambda _: Aliases(self.service.store).of('green', taken), range(8))
            )
        self.assertEqual(1, len(found))
        with self.service.store.engine.connect() as connection:
            self.assertEqual(1, len(connection.execute(sa.select(_SECRETS)).all()))

    def taken(self) -> Any:
        """Return what one reservation has."""
        self.assertEqual(201, self.lease(HOST).status_int)
        (found,) = fetch(self.service.store, lambda tx: tx.allocations.calendar())
        return found


class TestOpaqueIds(ThingCase):
    """What stands in a calendar in place of the ids of others."""

    def busy(self, token: str) -> list[dict[str, Any]]:
        """Return the reservations in the calendar of everything."""
        found = self.send('GET', '/v1/resources/allocations', token=token).json['allocations']
        return [item for one in found for item in one['reservations']]

    def test_busy_periods_reveal_no_lease(self) -> None:
        """Not what belongs together, and not what another project sees."""
        wish = {**HOST, 'resource_properties': '["==", "$rack", "r1"]'}
        real = self.lease(HOST, wish, token=RED).json['lease']
        seen = {token: self.busy(token) for token in (BLUE, 'carol:green:member')}
        for key in ('id', 'lease_id'):
            ids = [item[key] for busy in seen.values() for item in busy]
            self.assertEqual(4, len(set(ids)), key)
            self.assertNotIn(real['id'], ids)
        self.assertEqual(seen[BLUE], self.busy(BLUE))
        self.assertEqual({real['id']}, {item['lease_id'] for item in self.busy(RED)})

    def test_one_reservation_is_one_on_all_its_hosts(self) -> None:
        self.lease({**HOST, 'min': 2, 'max': 2}, token=RED)
        found = {(item['id'], item['lease_id']) for item in self.busy(BLUE)}
        self.assertEqual((2, 1), (len(self.busy(BLUE)), len(found)))

    def test_they_are_made_with_a_secret(self) -> None:
        """That of the database differs from service to service; a configured one holds."""
        self.lease(HOST, token=RED)
        (taken,) = fetch(self.service.store, lambda tx: tx.allocations.calendar())
        found = {
            Aliases(self.start().store if new else self.service.store, secret).of('blue', taken)
            for secret in ('', 'one', 'two')
            for new in (False, True)
        }
        self.assertEqual(4, len(found))

    def test_stacks_are_seen_by_their_project_only(self) -> None:
        """Their names begin with the project."""
        heat = self.service.cloud.of_caller('bob:red').orchestration
        stack_id = heat.create_stack(StackDraft(name='hush', template=SMALL))
        self.service.clock.move_to(self.service.clock.now() + datetime.timedelta(minutes=10))
        wish = {'resource_type': 'virtual:stack', 'stack_id': stack_id}
        self.assertEqual(201, self.lease(wish, token=RED).status_int)
        self.assertEqual(['red:hush'], self.rows())
        for path in ('/v1/resources', '/v1/resources/allocations'):
            self.assertNotIn('hush', self.send('GET', path).text)
            self.assertIn('hush', self.send('GET', path, token=RED).text)
