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

"""Servers of some projects get leases that nobody has asked for."""

from __future__ import annotations

import dataclasses
import datetime

from climate.clients.base import Server
from climate.domain.booting import ServerNews
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.leasing.server_leases import ServerLeaseSettings
from tests.functional.manager import booted
from tests.functional.manager import harness

HOUR = datetime.timedelta(hours=1)
DEFAULT = ServerLeaseSettings(
    enabled=True,
    default_lease=datetime.timedelta(days=30),
    projects=frozenset({'blue', 'green'}),
    exempt=frozenset({'green'}),
    on_end=('snapshot', 'delete'),
)


class TestDefault(booted.BootedCase):
    """Leases that nobody has asked for."""

    def setUp(self) -> None:
        super().setUp()
        self.before = self.boot()
        self.keeper = self.hire(DEFAULT)
        self.office.away_until(60)
        self.keeper.look(self.twin)
        self.office.away_until(120)

    def hear(self, server: Server) -> dict[str, str]:
        self.keeper.hear(ServerNews(server_id=server.id))
        return self.told(server)

    def test_who_gets_one(self) -> None:
        mine = self.boot()
        self.assertIn('climate:lease_id', self.hear(mine))
        (lease,) = self.leases()
        self.assertEqual(datetime.timedelta(days=30), lease.period.length)
        self.assertEqual(['snapshot', 'delete'], list(lease.reservations[0].request['on_end']))
        self.assertEqual({}, self.hear(self.before))
        for other in ('green', 'red'):
            self.assertEqual({}, self.hear(self.boot(project_id=other)))
        everybody = dataclasses.replace(DEFAULT, projects=frozenset({'*'}))
        self.keeper = self.hire(everybody)
        self.assertEqual({}, self.hear(self.boot(project_id='green')))
        self.assertIn('climate:lease_id', self.hear(self.boot(project_id='red')))

    def test_who_asks_gets_what_it_asks_for(self) -> None:
        self.hear(self.boot(lease_duration='1h'))
        (lease,) = self.leases()
        self.assertEqual(HOUR, lease.period.length)

    def test_what_is_in_a_lease_is_left_alone(self) -> None:
        booked = self.office.create(3600, 7200)
        reserved = booked.reservations[0].id
        self.assertEqual({}, self.hear(self.boot(flavor=reserved)))
        hinted = self.twin.boot_server(
            'compute-1', 'blue', 'vm', '2', hints={'reservation': reserved}
        )
        self.assertEqual({}, self.hear(hinted))
        self.assertEqual({}, self.hear(self.boot(reservation=reserved)))
        self.assertIn('climate:lease_id', self.hear(self.boot(lease_error='not for me')))
        self.assertEqual(2, len(self.leases()))

    def test_notices_before_the_end_and_prolonged(self) -> None:
        server = self.boot()
        self.hear(server)
        (lease,) = self.leases()
        month = 30 * 86400 + 120
        self.office.until(month - 60)
        self.assertIn('before_end_lease', self.office.bus.told(lease))
        end = harness.at(month + 86400)
        caller = Caller(user_id='alice', project_id='blue')
        change = LeaseChange(end=end, grain=datetime.timedelta(0))
        self.office.leases.update(caller, lease.id, 'blue', change)
        self.office.until(month + 60)
        self.assertEqual('ACTIVE', self.office.status(lease))
