# SPDX-License-Identifier: Apache-2.0

"""Filters check what is requested over HTTP."""

from __future__ import annotations

from tests import usage_service
from tests.functional import bodies
from tests.functional import http
from tests.functional.db import plans
from tests.functional.usage_service_case import UsageServiceCase


class TestDurations(UsageServiceCase):
    """Filters that ask nobody."""

    names = ('max_lease_duration', 'extension_window')
    options = {
        'max_lease_duration': 7200,
        'max_lease_duration_exempt_project_ids': ['red'],
        'reservation_extension_window': 600,
        'exempt_projects': ['green'],
    }

    def test_a_lease_that_is_too_long(self) -> None:
        before = self.service.rows()
        for version in ('1.0', '1.1'):
            answer = self.send('POST', '', {**http.LEASE, 'events': []}, version=version)
            self.assert_refused(answer, 403, 'LEASE_REFUSED', '86400 seconds is longer')
        self.assertEqual(before, self.service.rows())
        self.created(hours=2)

    def test_a_change_that_is_too_long(self) -> None:
        lease = self.created(hours=2)
        before = self.service.rows()
        answer = self.update(lease, {'end_date': '2031-05-01T14:00:01Z'})
        self.assert_refused(answer, 400, 'MAX_LEASE_DURATION', '7201 seconds is longer')
        self.assertEqual(before, self.service.rows())
        self.assertEqual(200, self.update(lease, {'end_date': '2031-05-01T13:00:00Z'}).status_int)
        self.assertEqual(200, self.update(lease, {'name': 'another'}).status_int)

    def test_exempt_projects(self) -> None:
        self.assertEqual(201, self.create(hours=3, token='alice:red:member').status_int)
        self.assertEqual(201, self.create(hours=3, token='alice:green:member').status_int)

    def test_missing_resources_are_refused_before_filters_are_asked(self) -> None:
        self.assert_refused(self.create(hosts=5, hours=3), 409, 'NOT_ENOUGH_RESOURCES')

    def test_no_more_statements_than_without(self) -> None:
        counts = []
        for day in (1, 2):
            with plans.captured(self.service.store.engine) as statements:
                self.created(day=day)
            counts.append(len(statements))
        # Beyond those without filters: what is known of the chosen hosts.
        self.assertLessEqual(counts[1], 20)


class TestQuestions(UsageServiceCase):
    """An external service is asked, and notified of the outcome."""

    def test_a_lease_is_allowed(self) -> None:
        lease = self.created(hosts=2)
        (asked,) = self.usage_service.calls
        self.assertEqual('check-create', asked.name)
        self.assert_has(asked.body['lease'], id=lease['id'], status='PENDING')
        (line,) = asked.body['lease']['reservations']
        self.assertEqual(lease['reservations'][0]['id'], line['id'])
        with self.service.store.reading() as tx:
            booked = {item.resource_name for item in tx.allocations.live_of([line['id']])}
        self.assertEqual(booked, {item['name'] for item in line['allocations']})
        self.assertEqual(2, len(booked))
        self.assertEqual({'commit': 1}, self.charges())
        self.work()
        self.assertEqual([('check-create', 'a'), ('commit', 'a')], self.questions())
        self.assertEqual(asked.body, self.usage_service.calls[1].body)
        self.assertEqual({}, self.charges())

    def test_a_lease_is_refused(self) -> None:
        before = self.service.rows()
        self.usage_service.answers['check-create'] = usage_service.refusal('No hours left')
        for version in ('1.0', '1.1'):
            answer = self.send('POST', '', {**http.LEASE, 'events': []}, version=version)
            self.assert_refused(answer, 403, 'LEASE_REFUSED', 'No hours left')
        self.assertEqual(before, self.service.rows())
        self.work()
        self.assertEqual(['check-create'] * 2, self.usage_service.names)

    def test_what_cannot_be_had_is_not_asked_for(self) -> None:
        self.assert_refused(self.create(hosts=5), 409, 'NOT_ENOUGH_RESOURCES')
        self.assertEqual(400, self.create(hosts=0).status_int)
        self.assertEqual([], self.usage_service.calls)

    def test_no_answer(self) -> None:
        self.usage_service.answers['check-create'] = usage_service.Answer(status=500)
        self.assert_refused(self.create(), 403, 'LEASE_REFUSED', 'gave no answer')
        self.assertEqual((0, {'release': 1}), (self.leases(), self.charges()))
        self.work()
        self.assertEqual([('check-create', 'a'), ('release', 'a')], self.questions())

    def test_no_transaction_is_open_while_it_is_asked(self) -> None:
        def write(call: usage_service.Call) -> None:
            # Would wait for half a minute, and fail, on SQLite.
            self.service.store.run(lambda tx: tx.charges.give_back('nobody'))
            seen.append(call.name)

        seen: list[str] = []
        self.usage_service.before = write
        lease = self.created()
        self.assertEqual(200, self.update(lease, {'end_date': '2031-05-01T15:00:00Z'}).status_int)
        self.assertEqual(['check-create', 'check-update'], seen)

    def test_leases_without_reservations(self) -> None:
        body = bodies.lease('empty', '2031-05-01T12:00:00Z', '2031-05-01T13:00:00Z')
        self.assertEqual(201, self.send('POST', '', body).status_int)
        self.assertEqual([], self.usage_service.calls[0].body['lease']['reservations'])

    def test_statements(self) -> None:
        self.created(day=2)
        with plans.captured(self.service.store.engine) as statements:
            self.created()
        self.assertLessEqual(len(statements), 25, statements)


class TestChanges(UsageServiceCase):
    """Changes are checked as well."""

    def test_a_change_is_allowed(self) -> None:
        lease = self.created()
        body = {'reservations': [{'id': lease['reservations'][0]['id'], 'min': 2, 'max': 2}]}
        self.assertEqual(200, self.update(lease, body).status_int)
        self.work()
        self.assertEqual(
            [('check-create', 'a'), ('check-update', 'b'), ('commit', 'a'), ('commit', 'b')],
            self.questions(),
        )
        asked = self.usage_service.named('check-update')[0].body
        for key, hosts in (('current_lease', 1), ('lease', 2)):
            (line,) = asked[key]['reservations']
            self.assertEqual((hosts, hosts), (line['min'], len(line['allocations'])))

    def test_a_change_is_refused(self) -> None:
        lease = self.created()
        self.work()
        before = self.service.rows()
        self.usage_service.answers['check-update'] = usage_service.refusal('No hours left')
        answer = self.update(lease, {'end_date': '2031-05-01T15:00:00Z'})
        self.assert_refused(answer, 400, 'EXTERNAL_SERVICE_REFUSED', 'No hours left')
        self.usage_service.answers['check-update'] = usage_service.Answer(status=502)
        answer = self.update(lease, {'end_date': '2031-05-01T15:00:00Z'}, version='1.0')
        self.assert_refused(answer, 400, 'INVALID_DATE')
        answer = self.update(lease, {'end_date': '2031-05-01 15:00'}, version='1.0')
        self.assert_refused(answer, 400, 'EXTERNAL_SERVICE_UNAVAILABLE', 'gave no answer')
        self.work()
        self.assertEqual(before, self.service.rows())

    def test_a_name_is_not_checked(self) -> None:
        lease = self.created()
        self.usage_service.answers['check-update'] = usage_service.refusal('No')
        self.assertEqual(200, self.update(lease, {'name': 'another'}).status_int)
        self.assertEqual(200, self.update(lease, {}).status_int)
        self.assertEqual(['check-create'], self.usage_service.names)

    def test_an_admin_changes_a_lease(self) -> None:
        lease = self.created()
        body = {'end_date': '2031-05-01T15:00:00Z'}
        self.assertEqual(200, self.update(lease, body, token=http.ADMIN).status_int)
        context = self.usage_service.named('check-update')[0].body['context']
        self.assertEqual(('root', 'blue'), (context['user_id'], context['project_id']))


class TestOrder(UsageServiceCase):
    """The service is asked before the duration is looked at."""

    names = ('external_service', 'max_lease_duration')
    options = {'max_lease_duration': 3600}

    def test_what_was_allowed_is_taken_back(self) -> None:
        self.assert_refused(self.create(hours=2), 403, 'LEASE_REFUSED', 'longest')
        self.assertEqual({'release': 1}, self.charges())
        self.work()
        self.assertEqual([('check-create', 'a'), ('release', 'a')], self.questions())


class TestOtherOrder(UsageServiceCase):
    """The duration is looked at first."""

    names = ('max_lease_duration', 'external_service')
    options = {'max_lease_duration': 3600, 'exempt_projects': ['green']}

    def test_no_filter_is_asked(self) -> None:
        self.assert_refused(self.create(hours=2), 403, 'LEASE_REFUSED', 'longest')
        self.assertEqual([], self.usage_service.calls)
        self.assertEqual({}, self.charges())

    def test_exempt_projects(self) -> None:
        lease = self.created(hours=2, token='alice:green:member')
        body = {'end_date': '2031-05-01T15:00:00Z'}
        http.expect(200, self.update(lease, body, token='alice:green:member'))
        self.send('DELETE', f'/{lease["id"]}', token='alice:green:member')
        self.work()
        self.assertEqual([], self.usage_service.calls)


class TestAllowed(UsageServiceCase):
    """What the service does not answer is allowed."""

    options = {'external_service_unavailable': 'allow'}

    def test_the_end_is_sent_when_it_is_back(self) -> None:
        self.usage_service.go_away()
        lease = self.created()
        self.usage_service.come_back()
        self.work()
        (call,) = self.usage_service.calls
        self.assertEqual(('commit', lease['id']), (call.name, call.body['lease']['id']))

    def test_a_refusal_is_a_refusal(self) -> None:
        self.usage_service.answers['check-create'] = usage_service.refusal('No')
        self.assertEqual(403, self.create().status_int)


class TestOnePhase(UsageServiceCase):
    """A service that charges when it is asked."""

    options = {'external_service_two_phase': False}

    def test_it_is_asked_and_notified_of_the_end(self) -> None:
        lease = self.created()
        self.assertEqual({}, self.charges())
        self.update(lease, {'end_date': '2031-05-01T15:00:00Z'})
        self.send('DELETE', f'/{lease["id"]}')
        self.work()
        self.assertEqual(['check-create', 'check-update', 'on-end'], self.usage_service.names)

    def test_no_answer(self) -> None:
        self.usage_service.answers['check-create'] = usage_service.Answer(status=500)
        self.assertEqual(403, self.create().status_int)
        self.work()
        self.assertEqual(['check-create'], self.usage_service.names)
