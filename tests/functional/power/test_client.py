# SPDX-License-Identifier: Apache-2.0

"""Climate's API as those see it that stand beside it."""

from __future__ import annotations

import datetime
from typing import Any

from oslo_config import cfg

from climate import conf as options
from climate import exceptions
from climate.cloud import reservation
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from tests import base
from tests.functional.processes import free_port
from tests.functional.processes import Standalone


def connect(endpoint: str) -> reservation.ReservationClient:
    """Return a client of an API that believes everybody."""
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([], project='climate', default_config_files=[])
    conf.set_override('auth_type', 'none', group='power')
    conf.set_override('endpoint_override', endpoint, group='power')
    return reservation.connect(conf, 'power')


class TestClient(base.TestCase):
    """A real API over HTTP."""

    def setUp(self) -> None:
        super().setUp()
        self.climate = self.useFixture(Standalone(hosts=2))
        self.client = connect(self.climate.endpoint)

    def book(self, **wanted: Any) -> dict[str, Any]:
        start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
        body = {
            'name': 'demo',
            'start_date': start.isoformat(),
            'end_date': (start + datetime.timedelta(hours=1)).isoformat(),
            'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1, **wanted}],
        }
        _, answer = self.climate.ask('POST', '/leases', body, version='1.3')
        return answer['lease']

    def say(self, lease_id: str) -> None:
        self.client.say_readiness(lease_id, ready=('compute-1',), waiting=(), by='somebody')

    def test_hosts_and_when_they_are_taken(self) -> None:
        one, two = self.client.list_hosts()
        self.assert_has(
            one, name='compute-1', service_host='compute-1', reservable=True, lead_time=''
        )
        self.assertEqual({one.id: (), two.id: ()}, self.client.list_allocations())
        lease = self.book()
        found = self.client.list_allocations()
        (taken,) = [busy for host in found.values() for busy in host]
        self.assertEqual(lease['id'], taken.lease_id)
        self.assertEqual(datetime.timedelta(hours=1), taken.end - taken.start)
        self.assertEqual(datetime.datetime.fromisoformat(lease['start_date']), taken.start)
        for host_id, busy in found.items():
            self.assertEqual(busy, self.client.find_allocations(host_id))
        self.client.set_properties(one.id, {'lead_time': '240', 'awake': 'false'})
        described = [(host.lead_time, host.awake) for host in self.client.list_hosts()]
        self.assertEqual([('240', 'false'), ('', '')], described)

    def test_who_is_in_a_hurry_asks_for_a_host_that_is_on(self) -> None:
        one, two = self.client.list_hosts()
        self.client.set_properties(one.id, {'awake': 'false'})
        self.client.set_properties(two.id, {'awake': 'true'})
        self.book(resource_properties='["==", "$awake", "true"]')
        self.assertEqual(1, len(self.client.find_allocations(two.id)))
        # As long as somebody counts on it, it stays as it is.
        self.assertRaises(CloudConflict, self.client.set_properties, two.id, {'awake': 'false'})

    def test_output_for_a_lease(self) -> None:
        lease = self.book()
        self.say(lease['id'])
        _, answer = self.climate.ask('GET', f'/leases/{lease["id"]}', version='1.3')
        self.assertEqual(['compute-1'], answer['lease']['readiness']['ready'])

    def test_what_is_not_there(self) -> None:
        for verb in (
            lambda: self.say('00000000-0000-4000-8000-000000000000'),
            lambda: self.client.find_allocations('4711'),
            lambda: self.client.set_properties('4711', {'awake': 'true'}),
        ):
            self.assertRaises(CloudNotFound, verb)
        away = connect(f'http://127.0.0.1:{free_port()}/v1')
        self.assertRaises(exceptions.Transient, away.list_hosts)
