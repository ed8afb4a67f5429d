# SPDX-License-Identifier: Apache-2.0

"""Things happen while filters are asked, and what is booked is what was asked for."""

from __future__ import annotations

import datetime
import json
from typing import Any

from climate.booking.leases import Leases
from climate.clock import ManualClock
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.leases.settings import LeasingSettings
from tests import services
from tests.functional import bodies
from tests.functional.usage_service_case import UsageServiceCase
from tests.threads import together


@services.on_each_engine(UsageServiceCase, 'TestOn', engines=services.DATABASE_SERVERS)
class _Meanwhile:
    """Things happen while the service thinks; on every engine."""

    def other(self, hosts: int, requirement: str = '') -> None:
        """Have a user whom no filter checks book hosts for the same time."""
        leases = Leases(
            self.service.store,
            self.service.services.plugins,
            ManualClock(self.service.clock.now()),
            LeasingSettings(),
            lambda: None,
        )
        noon = datetime.datetime(2031, 5, 1, 12, tzinfo=datetime.UTC)
        body = bodies.hosts(hosts, hypervisor_properties=requirement)
        end = noon + datetime.timedelta(hours=1)
        draft = LeaseDraft(name='other', start=noon, end=end, reservations=(body,))
        leases.create(Caller(user_id='eve', project_id='red'), draft)

    def once(self, act: Any) -> None:
        """Do something while the first question is thought about."""
        todo = [act]
        self.usage_service.before = lambda _: todo.pop()() if todo else None

    def test_the_chosen_host_is_taken(self) -> None:
        def take_it() -> None:
            (line,) = self.usage_service.calls[0].body['lease']['reservations']
            (chosen,) = line['allocations']
            self.other(1, json.dumps(['==', '$hypervisor_hostname', chosen['name']]))

        self.once(take_it)
        lease = self.created()
        self.work()
        self.assertEqual(
            [('check-create', 'a'), ('check-create', 'b'), ('commit', 'b'), ('release', 'a')],
            sorted(self.questions()),
        )
        (committed,) = self.usage_service.named('commit')
        self.assertEqual(lease['id'], committed.body['lease']['id'])
        (line,) = committed.body['lease']['reservations']
        with self.service.store.reading() as tx:
            (booked,) = tx.allocations.live_of([lease['reservations'][0]['id']])
        self.assertEqual([booked.resource_name], [item['name'] for item in line['allocations']])

    def test_many_at_once(self) -> None:
        """Each allowed request has one outcome: it was booked, or it was not."""
        answers = together(lambda _: self.create(), range(6))
        self.assertEqual([201] * 4 + [409] * 2, sorted(each.status_int for each in answers))
        self.work()
        asked = sorted(call.body['id'] for call in self.usage_service.named('check-create'))
        committed = [call.body['id'] for call in self.usage_service.named('commit')]
        released = [call.body['id'] for call in self.usage_service.named('release')]
        self.assertEqual((4, asked), (len(committed), sorted(committed + released)))
        hosts = {
            item['name']
            for call in self.usage_service.named('commit')
            for item in call.body['lease']['reservations'][0]['allocations']
        }
        self.assertEqual(4, len(hosts))

    def test_the_lease_is_changed(self) -> None:
        lease = self.created()
        self.once(lambda: self.update(lease, {'name': 'renamed'}))
        answer = self.update(lease, {'end_date': '2031-05-01T15:00:00Z'})
        self.assertEqual((200, 'renamed'), (answer.status_int, answer.json['lease']['name']))
        self.work()
        checks = [('check-create', 'a'), ('check-update', 'b'), ('check-update', 'c')]
        ends = [('commit', 'a'), ('release', 'b'), ('commit', 'c')]
        self.assertEqual([*checks, *ends], self.questions())

    def test_a_manager_withdraws_the_question_of_a_dead_process(self) -> None:
        def long_ago() -> None:
            self.service.clock.advance(self.filters.undecided_for.total_seconds())
            self.manager.send_once()

        self.once(long_ago)
        self.assert_refused(self.create(), 503, 'SERVICE_UNAVAILABLE', 'took too long')
        self.assertEqual(0, self.leases())
        self.work()
        self.assertEqual([('check-create', 'a'), ('release', 'a')], self.questions())


class TestMeanwhile(_Meanwhile, UsageServiceCase):
    """SQLite, and what does not depend on the engine."""

    def test_some_of_the_chosen_are_taken(self) -> None:
        self.once(lambda: self.other(2))
        lease = self.created(hosts=2)
        self.work()
        (committed,) = self.usage_service.named('commit')
        (line,) = committed.body['lease']['reservations']
        with self.service.store.reading() as tx:
            booked = tx.allocations.live_of([lease['reservations'][0]['id']])
        found = {item['name'] for item in line['allocations']}
        self.assertEqual({item.resource_name for item in booked}, found)
        checks = len(self.usage_service.named('check-create'))
        self.assertEqual(checks - 1, len(self.usage_service.named('release')))

    def test_everything_is_taken(self) -> None:
        self.once(lambda: self.other(4))
        self.assert_refused(self.create(), 409, 'NOT_ENOUGH_RESOURCES')
        self.work()
        self.assertEqual([('check-create', 'a'), ('release', 'a')], self.questions())
        self.assertEqual(1, self.leases())

    def test_the_lease_is_deleted(self) -> None:
        lease = self.created()
        self.once(lambda: self.send('DELETE', f'/{lease["id"]}'))
        answer = self.update(lease, {'end_date': '2031-05-01T15:00:00Z'})
        self.assert_refused(answer, 404, 'NOT_FOUND')
        self.work()
        found = set(self.questions()[2:])
        self.assertEqual({('commit', 'a'), ('release', 'b'), ('on-end', 'c')}, found)

    def test_the_database_becomes_unavailable(self) -> None:
        """What the API cannot write down any more is found by a manager."""

        def rename(**names: str) -> None:
            with self.service.store.engine.begin() as connection:
                for old, new in names.items():
                    connection.exec_driver_sql(f'ALTER TABLE {old} RENAME TO {new}')

        self.once(lambda: rename(leases='hidden_leases', charges='hidden_charges'))
        self.assertEqual(503, self.create().status_int)
        rename(hidden_leases='leases', hidden_charges='charges')
        self.assertEqual({'asked': 1}, self.charges())
        self.service.clock.advance(self.filters.undecided_for.total_seconds())
        self.work()
        self.assertEqual([('check-create', 'a'), ('release', 'a')], self.questions())
