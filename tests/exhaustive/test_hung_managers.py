# SPDX-License-Identifier: Apache-2.0

"""Managers that hang inside an effect for longer than their claim, and go on.

Real processes on real databases: what stops is the whole process, with its
clocks, its connections and the thread that renews. Where in an effect a manager
can be held up is walked through elsewhere, on a clock that tests move.
"""

from __future__ import annotations

import datetime
import pathlib
import signal

import fixtures
import sqlalchemy as sa

from climate.booking.leases import Leases
from climate.clock import SystemClock
from climate.db.migrations import migration
from climate.domain import periods
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.leases.settings import LeasingSettings
from climate.plugins.host.plugin import PhysicalHost
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from tests import base
from tests import drafts
from tests import services
from tests.databases import fetch
from tests.functional import processes
from tests.functional.db import cases

HOUR = datetime.timedelta(hours=1)
# Long enough to be stopped in the middle of it, on the busiest machine.
SLOW = 20.0
PATIENCE = 240.0

CONFIGURATION = """
[DEFAULT]
cloud = simulated
transport_url = fake://
resource_types = physical:host
[simulator]
state_dir = {cloud}
[database]
connection = {database}
[manager]
claim_seconds = 3
max_sleep = 0.5
"""


@services.on_each_engine(base.TestCase, 'TestHungOn', engines=services.DATABASE_SERVERS)
class _Hung:
    """One host, its tenant, the next one, and two managers."""

    def setUp(self) -> None:
        super().setUp()
        url = self.useFixture(services.Database(self.kind)).url
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        text = CONFIGURATION.format(database=url, cloud=self.folder / 'cloud')
        (self.folder / 'climate.conf').write_text(text)
        self.clock = SystemClock()
        self.store = self.closing(cases.connect(url, self.clock))
        migration.metadata().create_all(self.store.engine)
        self.cloud = self.closing(SimulatedCloud(self.folder / 'cloud', clock=self.clock))
        self.cloud.seed(1)
        plugins = {'physical:host': PhysicalHost()}
        Registrar(self.store, plugins, self.cloud).register_resource(drafts.host('compute-1'))
        self.leases = Leases(self.store, plugins, self.clock, LeasingSettings(), lambda: None)

    def manager(self) -> processes.Command:
        found = self.useFixture(
            processes.Command(
                'climate-manager',
                '--config-file',
                str(self.folder / 'climate.conf'),
                folder=self.folder,
            )
        )
        # A stopped process does not react to SIGTERM.
        self.addCleanup(self.send_signal, found, signal.SIGCONT)
        return found

    def send_signal(self, manager: processes.Command, what: signal.Signals) -> None:
        if manager.running and manager.process is not None:
            manager.process.send_signal(what)

    def tenant(self, project: str) -> tuple[Lease, str]:
        """Book the host from now on and start a server there, once the lease is active."""
        now = self.clock.now()
        draft = LeaseDraft(
            name=project,
            start=now,
            end=now + HOUR,
            reservations=({'resource_type': 'physical:host', 'min': 1, 'max': 1},),
            grain=datetime.timedelta(0),
            asked_at=now,
        )
        lease = self.leases.create(Caller(user_id=project, project_id=project), draft)
        self.until(lease, 'ACTIVE')
        return lease, self.cloud.boot_server('compute-1', project, 'server').id

    def end(self, lease: Lease) -> None:
        """Let a lease end now."""
        now = self.clock.now()
        caller = Caller(user_id=lease.user_id, project_id=lease.project_id)
        change = LeaseChange(end=now, strict=True, grain=periods.SECOND, asked_at=now)
        self.leases.update(caller, lease.id, lease.project_id, change)

    def status(self, lease: Lease) -> str:
        found = fetch(self.store, lambda tx: tx.leases.find(lease.id))
        return 'gone' if found is None else found.status.value

    def until(self, lease: Lease, status: str) -> None:
        processes.until(f'{lease.name} is {status}', lambda: self.status(lease) == status, PATIENCE)

    def claimed_until(self) -> object:
        with self.store.engine.connect() as connection:
            return connection.scalar(sa.text('SELECT max(claim_until) FROM leases'))

    def stop_inside(self, manager: processes.Command, lease: Lease) -> None:
        """Stop a manager that has begun to end a lease, and has deleted nothing yet."""
        self.cloud.keep_journal()
        self.cloud.slow('compute.list_servers', SLOW)
        self.end(lease)
        self.until(lease, 'TERMINATING')
        processes.until('it has looked at the aggregate', self.cloud.journal, PATIENCE)
        # Not in the middle of a transaction, which would keep rows locked: right
        # after it has renewed its claim it does nothing but wait for the cloud.
        was = self.claimed_until()
        processes.until('it has renewed', lambda: self.claimed_until() != was, PATIENCE)
        self.send_signal(manager, signal.SIGSTOP)
        self.cloud.heal()

    def test_the_next_tenant_is_left_alone(self) -> None:
        hung = self.manager()
        first, _ = self.tenant('blue')
        self.stop_inside(hung, first)
        self.assertEqual('TERMINATING', self.status(first))
        other = self.manager()
        self.until(first, 'TERMINATED')
        second, server = self.tenant('red')
        self.send_signal(hung, signal.SIGCONT)
        processes.until(
            'it has seen that its claim is lost',
            lambda: 'was not renewed in time' in hung.said,
            PATIENCE,
        )
        self.assertEqual([server], [item.id for item in self.cloud.servers()])
        self.assertEqual(('TERMINATED', 'ACTIVE'), (self.status(first), self.status(second)))
        hosts = {item.name: item.hosts for item in self.cloud.aggregates()}
        self.assertEqual({'freepool': (), second.reservations[0].id: ('compute-1',)}, hosts)
        # It is as good as any other.
        other.kill()
        self.end(second)
        self.until(second, 'TERMINATED')
        self.assertEqual((), self.cloud.servers())
