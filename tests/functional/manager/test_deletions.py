# SPDX-License-Identifier: Apache-2.0

"""What Climate deletes leaves traces that owners and operators find."""

from __future__ import annotations

import fixtures

from climate.api.routing import deletion_audit
from climate.cloud.deletions import Deletion
from climate.context import WorkContext
from climate.context import Working
from climate.db.leases import deletions as rows
from climate.domain.history import DeletedObject
from climate.domain.leases import Lease
from climate.manager.claims.worker import Worker
from climate.manager.running.deletions import DeletionRecorder
from tests import base
from tests import services
from tests.functional.manager.harness import PROJECT
from tests.functional.manager.harness import Site

OTHER = 'other'


@services.on_each_engine(base.TestCase, 'TestOn')
class _Tests:
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger('climate.manager.running.deletions'))
        self.site = self.useFixture(Site(hosts=2, database=self.kind))
        self.audited: list[DeletedObject] = []
        record = DeletionRecorder(self.site.store, self.audited.append)
        self.site.manager.worker._record = record

    def lines(self, lease: Lease, project_id: str | None = PROJECT) -> list[str]:
        found = self.site.leases.history(lease.id, project_id)
        return [line.text for step in found.steps for line in step.lines]

    def test_a_server_of_the_project_at_the_end(self) -> None:
        lease = self.site.create(end=100, until=10)
        server_id = self.site.boot(lease)
        host = min(self.site.hosts(lease))
        self.assertEqual('TERMINATED', self.site.status_at(110, lease))
        what = f'server {server_id} (server) of project {PROJECT} on host {host}'
        self.assertEqual([f'deleted {what}: the lease ends'], self.lines(lease))
        (deleted,) = self.site.bus.deleted()
        self.assert_has(deleted, object_type='server', object_id=server_id, object_name='server')
        self.assert_has(deleted, project_id=PROJECT, host=host, lease_id=lease.id)
        self.assertEqual('the lease ends', deleted['reason'])
        self.assertIn(f'Server {server_id} (server) of project {PROJECT} on host', self.log.output)
        (audited,) = map(deletion_audit.event, self.audited)
        self.assert_has(audited, action='delete', outcome='pending')
        self.assert_has(audited['target'], id=server_id, typeURI='data/server')
        content = audited['attachments'][0]['content']
        self.assertEqual((PROJECT, host), (content['project_id'], content['host']))

    def test_a_server_of_another_project_at_the_start(self) -> None:
        servers = {
            host: self.site.cloud.boot_server(host, OTHER, 'precious').id
            for host in ('compute-1', 'compute-2')
        }
        lease = self.site.create(hosts=2)
        self.assertEqual('ACTIVE', self.site.status_at(10, lease))
        # Its owner and operators find it, and the owner of the lease only that there was one.
        deleted = {one['object_id']: one for one in self.site.bus.deleted()}
        self.assertEqual(set(servers.values()), set(deleted))
        self.assertEqual({OTHER}, {one['project_id'] for one in deleted.values()})
        for one in deleted.values():
            self.assertFalse({'user_id', 'start_date', 'name', 'reservations'} & set(one))
        shown, all_shown = self.lines(lease), self.lines(lease, None)
        for host, server_id in servers.items():
            self.assertIn(server_id, self.log.output)
            self.assertIn(server_id, ' '.join(all_shown))
            self.assertNotIn(server_id, ' '.join(shown))
            (line,) = (text for text in shown if host in text)
            self.assertTrue(line.startswith(f'deleted servers of other projects on host {host}: '))
        self.assertEqual({OTHER}, {one.project_id for one in self.audited})

    def test_other_projects_get_notice_of_a_start(self) -> None:
        first = self.site.create(end=90, hosts=1)
        self.site.status_at(1, first)
        (mine,) = self.site.hosts(first)
        (free,) = {'compute-1', 'compute-2'} - {mine}
        server = self.site.cloud.boot_server(free, OTHER, 'precious')
        # What the lease before has is deleted at its end.
        self.site.boot(first)
        lease = self.site.create(100, hosts=2)
        self.site.away_until(39)
        self.site.status_at(39, lease)
        self.assertNotIn('server.yielding', [one.event_type for one in self.site.bus.taken])
        self.site.status_at(41, lease)
        (notice,) = (
            dict(one.payload)
            for one in self.site.bus.taken
            if one.event_type == 'lease.server.yielding'
        )
        self.assertEqual(
            (server.id, 'precious', OTHER, server.user_id, free, '2030-01-01T12:01:40.000000'),
            tuple(
                notice[key]
                for key in (
                    *('object_id', 'object_name', 'project_id', 'user_id', 'host', 'yields_at'),
                )
            ),
        )
        self.assertEqual([], self.site.bus.deleted())
        note = 'servers of other projects on the hosts that got notice: 1'
        self.assertIn(note, self.lines(lease))
        self.assertEqual('ACTIVE', self.site.status_at(110, lease))
        self.assertIn(server.id, [one['object_id'] for one in self.site.bus.deleted()])

    def test_a_manager_that_dies_after_the_request(self) -> None:
        lease = self.site.create(end=100, until=10)
        server_id = self.site.boot(lease)
        self.site.away_until(101)

        def die(_worker: Worker, *_others: object) -> None:
            raise SystemExit

        real = Worker.settle_locked
        self.patch(Worker, 'settle_locked', die)
        self.assertRaises(SystemExit, self.site.manager.look)
        self.patch(Worker, 'settle_locked', real)
        self.assertIsNone(self.site.cloud.compute.find_server(server_id))
        self.assertIn(server_id, ' '.join(self.lines(lease)))
        self.site.clock.advance(60)
        second = self.site.add_manager()
        while second.look():
            continue
        second.send()
        self.assertEqual('TERMINATED', self.site.status_at(200, lease))
        self.assertEqual(1, ' '.join(self.lines(lease)).count(server_id))
        self.assertEqual([server_id], [one['object_id'] for one in self.site.bus.deleted()])

    def test_repetitions_are_recorded_once_and_not_too_many(self) -> None:
        self.patch(rows, 'MOST', 3)
        lease = self.site.create(100)
        record = DeletionRecorder(self.site.store)
        with Working(WorkContext(lease.id, 'e', 'end_lease', None, lease.reservations[0].id)):
            for _ in range(2):
                for number in range(5):
                    record(Deletion(kind='volume', id=f'v{number}', project_id=PROJECT))
        self.site.work()
        found = [one['object_id'] for one in self.site.bus.deleted()]
        self.assertEqual(['v0', 'v1', 'v2'], found)
        self.assertEqual(3, len(self.lines(lease)))

    def test_what_a_sweep_deletes_belongs_to_the_lease_that_it_names(self) -> None:
        lease = self.site.create(100)
        record = DeletionRecorder(self.site.store)
        mine = lease.reservations[0].id
        record(Deletion(kind='network', id='n1', project_id=PROJECT, mentioned=(mine,)))
        record(Deletion(kind='network', id='n2', project_id=PROJECT, mentioned=('x',)))
        record(Deletion(kind='aggregate', id='7', name=mine))
        (line,) = self.lines(lease)
        self.assertTrue(line.startswith(f'deleted network n1 of project {PROJECT}: '), line)
        self.site.work()
        found = [(one['object_id'], one['lease_id']) for one in self.site.bus.deleted()]
        self.assertEqual([('n1', lease.id), ('n2', '')], found)
