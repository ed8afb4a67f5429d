# SPDX-License-Identifier: Apache-2.0

"""``climate-manage lease``, ``event`` and ``outbox`` on leases that a manager processes."""

from __future__ import annotations

import datetime
import json
import pathlib
from typing import Any

import fixtures

from climate.clock import ManualClock
from climate.clock import SystemClock
from climate.domain.copies import with_changes
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import LeaseStatus
from climate.testing.deployment import CALLER
from climate.upkeep import stuck
from tests import base
from tests import drafts
from tests import services
from tests.functional import bodies
from tests.functional.db import cases
from tests.functional.manager.harness import Site
from tests.functional.test_manage import run
from tests.narrowing import present

HOUR = datetime.timedelta(hours=1)


class ManageCase(base.TestCase):
    """A deployment of four hosts, and commands with the same database and cloud."""

    KIND = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        clock = ManualClock(SystemClock().now())
        self.site = self.useFixture(
            Site(database=self.KIND, clock=clock, cloud_dir=str(folder / 'cloud'))
        )
        self.file = folder / 'climate.conf'
        url = self.site.conf.database.connection.replace('$', '$$')
        self.file.write_text(
            '[DEFAULT]\ncloud = simulated\nresource_types = physical:host\n'
            f'[simulator]\nstate_dir = {folder}/cloud\n[database]\nconnection = {url}\n'
        )

    def manage(self, status: int, *arguments: str) -> list[str]:
        """Run a command that ends with *status*; return the lines that it prints."""
        ended, lines = run('--config-file', str(self.file), *arguments)
        self.assertEqual(status, ended, lines)
        return [line for line in lines if ' climate.' not in line]

    def document(self, status: int, *arguments: str) -> Any:
        """Run a command that prints JSON."""
        lines = self.manage(status, *arguments, '-f', 'json')
        # The log follows it.
        return json.JSONDecoder().raw_decode('\n'.join(lines))[0]

    def book(self, *, active: bool = True, **facts: Any) -> Lease:
        """Book a host for an hour from now; start the lease."""
        now = self.tick()
        draft = drafts.lease(
            now, now + HOUR, bodies.hosts(), name=facts.pop('name', 'night'), asked_at=now, **facts
        )
        lease = self.site.leases.create(CALLER, draft)
        if active:
            self.site.work()
        return lease

    def tick(self, seconds: float = 0.0) -> datetime.datetime:
        """Move the clock of managers to the real time, plus some seconds."""
        now = SystemClock().now() + datetime.timedelta(seconds=seconds)
        self.site.clock.move_to(now)
        return now

    def fail_event(self, lease: Lease, kind: EventKind, error: str) -> str:
        """Have an event look as after failed tries: overdue, and postponed by an hour."""
        now = SystemClock().now()
        event = self.site.event(lease, kind)

        def fail(tx: Any) -> None:
            found = tx.leases.get(lease.id, lock=True)
            late = with_changes(
                found.events[[item.id for item in found.events].index(event.id)],
                time=now - HOUR,
                due=now + datetime.timedelta(seconds=50),
                begun_at=now - HOUR,
                attempts=7,
                error=error,
                state=EventState.UNDONE,
            )
            found = tx.events.keep(found, late)
            tx.leases.update(with_changes(found, next_due=late.due))

        self.site.store.run(fail)
        return event.id


class TestLists(ManageCase):
    """What operators see."""

    def test_leases(self) -> None:
        self.assertEqual([], self.manage(0, 'lease', 'list'))
        lease, later = self.book(name='x\x1b[31m\ny'), self.book(active=False)
        lines = self.manage(0, 'lease', 'list')
        self.assertEqual('ID', lines[0].split()[0])
        self.assertEqual([lease.id, later.id], [line.split()[0] for line in lines[1:]])
        self.assertIn('\\x1b[31m\\ny', lines[1])
        (found,) = self.document(0, 'lease', 'list', '--status', 'active')
        self.assertEqual((lease.id, 'blue', 'ACTIVE'), tuple(found.values())[:3])
        self.assert_has(found, name='x\x1b[31m\ny', manager=None)
        self.assertEqual([], self.document(0, 'lease', 'list', '--project', 'red'))
        found = self.document(0, 'lease', 'list', '--overdue')
        self.assertEqual([later.id], [each['id'] for each in found])
        self.assertEqual(1, len(self.document(0, 'lease', 'list', '--limit', '1')))
        self.assertIn('at least 1', self.manage(1, 'lease', 'list', '--limit', '0')[0])

    def test_a_lease(self) -> None:
        lease = self.book()
        found = self.document(0, 'lease', 'show', lease.id)
        actual = tuple(found[key] for key in ('status', 'project_id', 'user_id'))
        self.assertEqual(('ACTIVE', 'blue', 'alice'), actual)
        (reservation,) = found['reservations']
        self.assertEqual('physical:host', reservation['resource_type'])
        self.assertEqual(1, len(reservation['resources']))
        kinds = {event['kind']: event['state'] for event in found['events']}
        self.assertEqual(('DONE', 'UNDONE'), (kinds['start_lease'], kinds['end_lease']))
        self.assertEqual(0, found['notifications_to_send'])
        text = '\n'.join(self.manage(0, 'lease', 'show', lease.id))
        for word in (lease.id, reservation['resources'][0], 'end_lease', 'UNDONE'):
            self.assertIn(word, text)
        self.site.delete(lease)
        self.site.work()
        found = self.document(0, 'lease', 'show', lease.id)
        self.assertEqual('DELETED', found['status'])
        self.assertEqual([], found['reservations'][0]['resources'])
        self.manage(1, 'lease', 'show', 'none')

    def test_events_of_a_lease(self) -> None:
        lease = self.book()
        found = self.document(0, 'event', 'list', '--lease', lease.id)
        self.assertEqual({lease.id}, {event['lease_id'] for event in found})
        self.assertIn('check_lease', {event['kind'] for event in found})
        self.assertEqual([], self.document(0, 'event', 'list'))
        self.fail_event(lease, EventKind.CHECK, 'Nova is away')
        (late,) = self.document(0, 'event', 'list')
        self.assertEqual((7, 'Nova is away'), (late['attempts'], late['error']))
        self.assertEqual([], self.document(0, 'event', 'list', '--older', '7200'))

    def test_notifications(self) -> None:
        row = cases.notification('m', 'l', SystemClock().now())
        self.site.store.run(lambda tx: tx.outbox.insert([row]))
        self.assertEqual([], self.document(0, 'outbox', 'list'))
        (found,) = self.document(0, 'outbox', 'list', '--all')
        self.assertEqual(('m', 'l', 'waiting'), (found['id'], found['lease_id'], found['state']))
        self.site.store.run(lambda tx: tx.outbox.set_aside('m', 'too big'))
        (found,) = self.document(0, 'outbox', 'list')
        self.assertEqual(('set_aside', 'too big'), (found['state'], found['error']))


class TestStuck(ManageCase):
    """Leases that make no progress."""

    def why(self, status: int = 1) -> dict[str, str]:
        """Return why each lease is stuck."""
        found = self.document(status, 'lease', 'stuck', '--older', '0')
        return {each['id']: each['why'] for each in found}

    def test_none(self) -> None:
        self.book()
        self.assertEqual({}, self.why(0))
        self.assertEqual([], self.manage(0, 'lease', 'stuck'))

    def test_no_manager(self) -> None:
        self.assertEqual({self.book(active=False).id: stuck.UNCLAIMED}, self.why())
        self.assertEqual([], self.document(0, 'lease', 'stuck'))

    def test_manager_is_gone(self) -> None:
        lease = self.book(active=False)
        self.site.add_manager().die_after('begin')
        self.assertEqual({lease.id: stuck.WORKED_ON}, self.why())
        self.site.store.run(lambda tx: tx.claims.renew('manager-2', [lease.id], tx.now - HOUR))
        self.assertEqual({lease.id: stuck.ORPHANED}, self.why())

    def test_failing(self) -> None:
        event = self.fail_event(self.book(), EventKind.END, 'Nova refuses')
        (found,) = self.document(1, 'lease', 'stuck')
        self.assertEqual((stuck.FAILING, event), (found['why'], found['event_id']))
        self.assertEqual(('Nova refuses', 7), (found['error'], found['attempts']))
        self.assertGreaterEqual(found['late_seconds'], 3600)

    def test_forgotten(self) -> None:
        lease = self.book()
        found = self.site.now(lease)
        self.site.store.run(lambda tx: tx.leases.update(with_changes(found, next_due=None)))
        self.assertEqual({lease.id: stuck.FORGOTTEN}, self.why())
        self.assertIn('rescheduled', self.manage(0, 'lease', 'repair', '--lease', lease.id)[0])
        self.assertEqual({}, self.why(0))

    def test_without_a_future(self) -> None:
        lease = self.book()
        self.site.store.run(lambda tx: self.stop(tx, lease.id))
        self.assertEqual({lease.id: stuck.AT_REST}, self.why())

    def stop(self, tx: Any, lease_id: str) -> None:
        """Leave a lease that terminates without an event."""
        lease = tx.leases.get(lease_id, lock=True)
        for event in lease.events:
            tx.events.update(with_changes(event, state=EventState.DONE))
        tx.leases.update(with_changes(lease, status=LeaseStatus.TERMINATING, next_due=None))


class TestEnd(ManageCase):
    """Leases that operators end."""

    def ended(self, lease: Lease) -> None:
        """Check that a manager ends a lease, and frees its host."""
        self.tick()
        self.assertEqual('TERMINATED', self.site.settled(lease))
        self.assertEqual([], self.site.allocations(lease))

    def test_active(self) -> None:
        lease = self.book()
        (line,) = self.manage(0, 'lease', 'end', '--dry-run', lease.id)
        self.assertIn('would end', line)
        self.assertEqual(lease.period, self.site.now(lease).period)
        (line,) = self.manage(0, 'lease', 'end', lease.id)
        self.assertEqual(f'{lease.id} ends as soon as a manager processes it', line)
        self.ended(lease)
        notified = self.site.bus.received(lease)
        self.assertEqual(1, notified.count('end_lease'), notified)
        self.assertIn('it has ended', self.manage(1, 'lease', 'end', lease.id)[0])

    def test_by_force(self) -> None:
        lease = self.book()
        (line,) = self.manage(0, 'lease', 'end', '--force', '--dry-run', lease.id)
        self.assertIn('would end', line)
        self.assertFalse(self.site.event(lease, EventKind.END).forced)
        self.manage(0, 'lease', 'end', '--force', lease.id)
        self.assertTrue(self.site.event(lease, EventKind.END).forced)
        self.ended(lease)

    def test_not_started(self) -> None:
        lease = self.book(active=False)
        self.assertIn('has not started', self.manage(1, 'lease', 'end', lease.id)[0])
        self.manage(1, 'lease', 'end', 'none')

    def test_while_a_manager_works_on_it(self) -> None:
        # Its manager has performed the start, and has yet to settle it.
        lease = self.book(active=False)
        self.site.add_manager().die_after('effect')
        self.manage(0, 'lease', 'end', lease.id)
        self.tick(60)
        self.assertEqual('TERMINATED', self.site.settled(lease))
        self.assertEqual(['freepool'] * 4, [place for [place] in self.site.places().values()])


class TestRetry(ManageCase):
    """Failing events that operators have tried again."""

    def test_by_id(self) -> None:
        lease = self.book()
        event = self.fail_event(lease, EventKind.END, 'Nova refuses')
        self.assertIn(event, self.manage(0, 'event', 'retry', '--dry-run', '--all')[0])
        self.assertEqual(7, self.site.event(lease, EventKind.END).attempts)
        self.assertEqual(['1 events are tried now'], self.manage(0, 'event', 'retry', event))
        self.assertLessEqual(present(self.site.now(lease).next_due), SystemClock().now())
        self.tick()
        self.assertEqual('TERMINATED', self.site.settled(lease))
        self.assertIn(event, self.manage(1, 'event', 'retry', event)[0])

    def test_of_a_lease(self) -> None:
        lease, other = self.book(), self.book()
        self.fail_event(lease, EventKind.CHECK, 'no')
        found = self.manage(0, 'event', 'retry', '--lease', other.id)
        self.assertEqual(['0 events are tried now'], found)
        actual = self.manage(0, 'event', 'retry', '--lease', lease.id)
        self.assertEqual(['1 events are tried now'], actual)
        self.manage(1, 'event', 'retry', '--lease', 'none')

    def test_while_a_manager_works_on_it(self) -> None:
        self.fail_event(self.book(), EventKind.CHECK, 'no')
        self.tick(55)
        # It has begun the event, which is its own until it has settled it.
        self.site.add_manager().die_after('begin')
        self.assertEqual(['0 events are tried now'], self.manage(0, 'event', 'retry', '--all'))


class ServerCase(ManageCase):
    """The statements of all commands, on another database."""

    def life(self) -> None:
        """List, retry and end leases."""
        lease, late = self.book(), self.book(active=False)
        event = self.fail_event(lease, EventKind.CHECK, 'no')
        found = {x['id']: x['why'] for x in self.document(1, 'lease', 'stuck', '--older', '0')}
        self.assertEqual({late.id: stuck.UNCLAIMED, lease.id: stuck.FAILING}, found)
        actual = [x['id'] for x in self.document(0, 'lease', 'list', '--overdue')]
        self.assertEqual([late.id], actual)
        self.assertEqual(['1 events are tried now'], self.manage(0, 'event', 'retry', event))
        self.assertEqual('ACTIVE', self.document(0, 'lease', 'show', lease.id)['status'])
        self.site.store.run(
            lambda tx: tx.leases.update(with_changes(tx.leases.get(lease.id), next_due=None))
        )
        found = {x['id']: x['why'] for x in self.document(1, 'lease', 'stuck', '--older', '0')}
        self.assertEqual(stuck.FORGOTTEN, found[lease.id])
        self.manage(0, 'lease', 'end', lease.id)
        self.manage(0, 'outbox', 'list', '--all')
        self.tick()
        self.assertEqual('TERMINATED', self.site.settled(lease))


class TestOnMariaDB(ServerCase):
    """MariaDB."""

    KIND = services.MARIADB

    def test_life(self) -> None:
        self.life()


class TestOnPostgreSQL(ServerCase):
    """PostgreSQL."""

    KIND = services.POSTGRESQL

    def test_life(self) -> None:
        self.life()
