# SPDX-License-Identifier: Apache-2.0

"""Waking managers costs the caller nothing, whatever the broker does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

import fixtures

from climate.messaging import waker
from tests import base

SOON = 10.0


class Gate:
    """A way to send that can be held up and made to fail."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.ids: list[dict[str, str]] = []
        self.entered = threading.Semaphore(0)
        self.open = threading.Semaphore(0)
        self.failing = False

    def __call__(self, reasons: str, ids: Mapping[str, str]) -> None:
        self.sent.append(reasons)
        self.ids.append(dict(ids))
        self.entered.release()
        self.open.acquire(timeout=SOON)
        if self.failing:
            raise ConnectionRefusedError


class TestWaker(base.TestCase):
    """One thread, one wake-up at a time."""

    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.gate = Gate()
        self.waker = waker.Waker(self.gate, pause=0.0)
        self.addCleanup(self.gate.open.release, 100)
        self.addCleanup(self.waker.close)

    def entered(self) -> None:
        self.assertTrue(self.gate.entered.acquire(timeout=SOON))

    def test_many_wakes_while_one_is_sent_become_one(self) -> None:
        self.waker.wake('lease')
        self.entered()
        for _ in range(50):
            self.waker.wake('lease')
            self.waker.wake('outbox')
        self.gate.open.release()
        self.entered()
        self.gate.open.release()
        self.waker.wake('last')
        self.entered()
        self.assertEqual(['lease', 'lease,outbox', 'last'], self.gate.sent)

    def test_a_merged_one_has_the_ids_of_the_first_request(self) -> None:
        for number in (1, 2, 3):
            self.waker.wake('lease', {'request_id': f'req-{number}'})
            if number == 1:
                self.entered()
        self.gate.open.release()
        self.entered()
        self.gate.open.release()
        self.waker.wake('lease')
        self.entered()
        self.assertEqual([{'request_id': 'req-1'}, {'request_id': 'req-2'}, {}], self.gate.ids)

    def test_an_outage_is_logged_once_and_its_end_once(self) -> None:
        self.gate.failing = True
        for number in range(4):
            self.waker.wake('lease')
            self.entered()
            if number == 3:
                self.gate.failing = False
            self.gate.open.release()
        # The next one comes in when the one before is over and logged.
        self.waker.wake('lease')
        self.entered()
        self.assertEqual(1, self.log.output.count('cannot be woken'))
        self.assertEqual(1, self.log.output.count('can be woken over the message bus again'))

    def test_a_closed_one_sends_no_more(self) -> None:
        self.waker.wake('lease')
        self.entered()
        self.waker.wake('dropped')
        self.waker.close()
        self.waker.wake('dropped')
        self.gate.open.release()
        self.assertFalse(self.gate.entered.acquire(timeout=0.05))
        self.assertEqual(['lease'], self.gate.sent)
