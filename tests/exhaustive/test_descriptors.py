# SPDX-License-Identifier: Apache-2.0

"""A manager that has no file descriptors for a while: it goes on when there are some again."""

from __future__ import annotations

import random
import resource

from tests import services
from tests.exhaustive import deployed
from tests.exhaustive import deployed_users
from tests.functional import processes

_FEW = 3
_HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1, 'before_end': ''}


@services.on_each_engine(
    deployed.InstalledCase, 'TestDescriptors', engines=services.DATABASE_SERVERS
)
class _Descriptors:
    """A manager whose connections are cut when it can open none."""

    def status(self, lease_id: str) -> str:
        return str(self.installed.rows(f"SELECT status FROM leases WHERE id = '{lease_id}'")[0][0])

    def test_a_lease_that_was_due_meanwhile_starts(self) -> None:
        port = processes.free_port()
        manager, _ = (
            self.started('climate-manager'),
            self.started('climate-api', '--port', str(port)),
        )
        processes.until('the manager works', lambda: deployed.AT_WORK in manager.said)
        users = deployed_users.Users(self.installed.requests, [port], 1)
        dice = random.Random(1)

        def booked() -> str:
            body = {
                'name': 'due',
                'start_date': 'now',
                'end_date': deployed_users.later(3600),
                'reservations': [_HOST],
            }
            status, answer = users.send(dice, 'POST', '/leases', body)
            self.assertEqual(201, status, answer)
            return str(answer['lease']['id'])

        first = booked()
        processes.until('a lease starts', lambda: self.status(first) == 'ACTIVE')
        assert manager.process is not None
        number = manager.process.pid
        limits = resource.prlimit(number, resource.RLIMIT_NOFILE)
        resource.prlimit(number, resource.RLIMIT_NOFILE, (_FEW, limits[1]))
        self.installed.database.cut()
        self.installed.broker.cut()
        second = booked()
        failures = manager.said.count('The database')
        processes.until(
            'the manager cannot connect', lambda: manager.said.count('The database') > failures
        )
        self.assertEqual('PENDING', self.status(second))
        resource.prlimit(number, resource.RLIMIT_NOFILE, limits)
        processes.until('the lease starts', lambda: self.status(second) == 'ACTIVE')
