# SPDX-License-Identifier: Apache-2.0

"""Filters are notified of the outcome of each question, whatever happens meanwhile."""

from __future__ import annotations

import datetime

import fixtures

from climate import exceptions
from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from climate.enforcement import ledger
from climate.enforcement.external_service import ExternalService
from climate.enforcement.filters import Filters
from climate.manager.senders.charges import ChargeSender
from tests import usage_service
from tests import waiting
from tests.databases import fetch
from tests.functional.db import cases
from tests.unit.enforcement import questions
from tests.unit.enforcement.test_durations import configured

MONEY = 'external_service'


class TestSender(cases.StoreCase):
    """A usage service over HTTP, and managers that notify it."""

    def setUp(self) -> None:
        super().setUp()
        self.usage_service = self.useFixture(usage_service.UsageService())
        self.logger = self.useFixture(fixtures.FakeLogger())
        conf = configured(
            external_service_base_endpoint=self.usage_service.url, external_service_timeout=60.0
        )
        self.filters = Filters({MONEY: ExternalService.from_conf(conf)})
        self.sender = self.add_manager('me')

    def add_manager(self, owner: str, **options: float) -> ChargeSender:
        return ChargeSender(
            self.store, self.clock, self.filters, owner, **{'max_sleep': 5.0} | options
        )

    def put(self, *names: str, state: ChargeState = ChargeState.COMMIT) -> None:
        """Write charges named after their lease and a number, such as a1."""
        for name in names:
            ids = {'charge_id': name, 'lease_id': name[0], 'payload': {'id': name}}
            charge = Charge(filter_name=MONEY, state=state, due=self.clock.now(), **ids)
            self.store.run(lambda tx, charge=charge: tx.charges.insert([charge]))

    @property
    def calls(self) -> list[str]:
        """The calls that the service has received, with repetitions."""
        return [f'{call.name} {call.body["id"]}' for call in self.usage_service.calls]

    def waiting(self) -> dict[str, int]:
        return fetch(self.store, lambda tx: dict(tx.charges.waiting()))

    def pass_time(self, seconds: float) -> None:
        self.clock.move_to(self.clock.now() + datetime.timedelta(seconds=seconds))

    def test_all_is_reported_once_and_in_order(self) -> None:
        self.put('a1', 'a2', 'b1', 'a3')
        while self.sender.send_once():
            continue
        self.assertEqual(['commit a1', 'commit b1', 'commit a2', 'commit a3'], self.calls)
        self.assertEqual({}, self.waiting())

    def test_what_is_not_taken_comes_again_and_holds_no_other_lease_up(self) -> None:
        self.usage_service.answers['commit'] = usage_service.Answer(status=500)
        self.put('a1')
        self.put('b1', state=ChargeState.RELEASE)
        self.assertEqual(2, self.sender.send_once())
        self.assertEqual(['commit a1', 'release b1'], self.calls)
        self.assertIn('does not take commit: commit: it answered 500', self.logger.output)
        self.assertEqual(0, self.sender.send_once())
        self.pass_time(1.5)
        self.assertEqual(1, self.sender.send_once())
        del self.usage_service.answers['commit']
        self.pass_time(1.5)
        self.assertEqual(0, self.sender.send_once())
        self.pass_time(1)
        self.assertEqual(1, self.sender.send_once())
        self.assertEqual({}, self.waiting())

    def test_an_unavailable_filter_comes_back(self) -> None:
        self.usage_service.go_away()
        self.put('a1', 'a2', 'b1')
        for _ in range(3):
            self.assertRaises(exceptions.FilterUnavailable, self.sender.send_once)
            self.pass_time(15)
        self.assertEqual({'commit': 3}, self.waiting())
        self.usage_service.come_back()
        while self.sender.send_once():
            continue
        self.assertEqual({'commit a1', 'commit a2', 'commit b1'}, set(self.calls))
        self.assertLess(self.calls.index('commit a1'), self.calls.index('commit a2'))
        self.assertEqual(3, len(self.calls))

    def test_an_unavailable_filter_delays_no_other(self) -> None:
        other = self.useFixture(usage_service.UsageService())
        conf = configured(external_service_base_endpoint=other.url)
        self.filters = Filters(
            {MONEY: self.filters[MONEY], 'other': ExternalService.from_conf(conf)}
        )
        self.usage_service.go_away()
        self.put('a1')
        question = questions.creation()
        self.store.run(lambda tx: ledger.open_question(tx, self.filters, question))
        self.assertTrue(self.store.run(lambda tx: ledger.booked(tx, self.filters, question)))
        self.assertRaises(exceptions.FilterUnavailable, self.add_manager('you').send_once)
        self.assertEqual(['commit'], other.names)

    def test_a_manager_that_dies_while_it_notifies(self) -> None:
        self.put('a1')
        self.store.run(
            lambda tx: tx.charges.claim('dead', self.clock.now() + cases.HOUR, [MONEY], 5)
        )
        self.assertEqual(0, self.sender.send_once())
        self.pass_time(3601)
        self.assertEqual(1, self.sender.send_once())
        self.assertEqual(['commit a1'], self.calls)

    def test_the_process_that_asked_is_gone(self) -> None:
        question = questions.creation()
        self.store.run(lambda tx: ledger.open_question(tx, self.filters, question))
        self.assertEqual(0, self.sender.send_once())
        self.pass_time(self.filters.undecided_for.total_seconds())
        self.assertEqual(1, self.sender.send_once())
        self.assertEqual(['release q1'], self.calls)
        self.assertEqual('create', self.usage_service.calls[0].body['action'])
        self.assertFalse(self.store.run(lambda tx: ledger.booked(tx, self.filters, question)))

    def test_a_filter_that_is_no_longer_used_is_notified_when_it_is_used_again(self) -> None:
        self.put('a1')
        filters, self.filters = self.filters, Filters({'other': self.filters[MONEY]})
        self.assertEqual(0, self.add_manager('you').send_once())
        self.filters = filters
        self.assertEqual(1, self.add_manager('they').send_once())

    def test_a_thread_sends_new_charges(self) -> None:
        sender = self.add_manager('thread', max_sleep=30.0)
        sender.start()
        self.addCleanup(sender.stop, 10)
        self.put('a1')
        sender.wake()
        waiting.until(lambda: self.waiting() == {}, 20, 'a1 is sent')
        self.put('a2', 'a3')
        sender.wake()
        waiting.until(lambda: self.waiting() == {}, 20, 'a2 and a3 are sent')
        sender.stop(10)
        self.assertEqual(['commit a1', 'commit a2', 'commit a3'], self.calls)

    def test_a_thread_outlives_an_unavailable_filter(self) -> None:
        self.usage_service.go_away()
        sender = self.add_manager('thread', max_sleep=0.1)
        sender.start()
        self.addCleanup(sender.stop, 10)
        self.put('a1')
        sender.wake()
        waiting.until(lambda: 'Charges wait' in self.logger.output, 20, 'it is missed')
        self.usage_service.come_back()
        self.pass_time(60)
        waiting.until(lambda: self.waiting() == {}, 20, 'a1 is sent')
        waiting.until(lambda: 'accepted again' in self.logger.output, 20, 'that is said')

    def test_without_filters_there_is_no_thread(self) -> None:
        sender = ChargeSender(self.store, self.clock, Filters(), 'idle', max_sleep=5.0)
        sender.start()
        self.assertFalse(sender._thread.is_alive())
        sender.stop(1)
