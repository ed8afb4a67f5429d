# SPDX-License-Identifier: Apache-2.0

"""A lease is followed, through interruptions of the service as well."""

from __future__ import annotations

import datetime
from typing import Any

from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions

from climate.client import watching
from climate.client.sdk.histories import LeaseHistory
from climate.client.sdk.leases import Lease
from tests import base

START = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)


def lease(status: Any) -> Lease:
    """Return a lease that starts a minute after its creation."""
    if isinstance(status, Lease):
        return status
    return Lease.existing(
        id='1', status=status, created_at='2030-01-01T00:00:00Z',
        start_date='2030-01-01T00:01:00Z', end_date='2030-01-01T00:02:00Z',
    )  # fmt: skip


def step(state: str, attempts: int, error: str | None = None) -> dict[str, Any]:
    """Return a step of the history."""
    return {
        'event_id': 'e', 'reservation_id': 'r', 'resource_type': 'physical:host',
        'effect': 'start', 'state': state, 'attempts': attempts, 'waiting_for': None,
        'last_at': '2030-01-01T00:01:00Z', 'error': error, 'lines': [],
    }  # fmt: skip


class Service:
    """Answers in turn, and then as in the last."""

    def __init__(self, *answers: tuple[Any, list[Any]]) -> None:
        self.answers = list(answers)

    def get_lease(self, _lease: str) -> Lease:
        found = self.answers[0][0]
        if isinstance(found, Exception):
            self.answers.pop(0)
            raise found
        return lease(found)

    def lease_history(self, _lease: str) -> LeaseHistory:
        steps = self.answers[0][1]
        if len(self.answers) > 1:
            self.answers.pop(0)
        return LeaseHistory.existing(steps=steps, awaited=[])


class LeaseWatcherTest(base.TestCase):
    """With a clock that moves only while the watcher waits."""

    def setUp(self) -> None:
        super().setUp()
        self.lines: list[str] = []
        self.shares: list[tuple[str, float]] = []
        self.pauses: list[float] = []

    def line(self, text: str) -> None:
        self.lines.append(text)

    def progress(self, text: str, share: float, seconds: float) -> None:
        self.shares.append((text, round(share, 2)))

    def now(self) -> datetime.datetime:
        return START + datetime.timedelta(seconds=sum(self.pauses))

    def follow(self, *answers: tuple[Any, list[Any]], status: str = 'ACTIVE', **more: Any) -> Any:
        service: Any = Service(*answers)
        watcher = watching.LeaseWatcher(service, '1', self, self.now, self.pauses.append)
        return watcher.watch(status, **more)

    def test_each_step_once(self) -> None:
        found = self.follow(
            ('PENDING', []),
            ('STARTING', [step('failed', 1, 'Nova does not answer')]),
            ('STARTING', [step('failed', 1, 'Nova does not answer')]),
            ('ACTIVE', [step('done', 2)]),
        )
        self.assertEqual('ACTIVE', found.status)
        self.assertEqual(
            [
                'PENDING',
                'start physical:host failed: Nova does not answer',
                'STARTING',
                'start physical:host done, attempt 2',
                'ACTIVE',
            ],
            [line.split(': 2030')[0].removeprefix('2030-01-01 00:01 UTC ') for line in self.lines],
        )
        self.assertEqual([('start', 0.0), ('start', 0.02), ('start', 0.03)], self.shares[:3])

    def test_moves_and_yields_are_followed(self) -> None:
        def flexible(status: str, start: int, left: int = 60, **facts: Any) -> Lease:
            return Lease.existing(
                id='1', status=status, created_at='2030-01-01T00:00:00Z', preemptible=True,
                start_date=f'2030-01-01T{start:02}:00:00Z', time_left=left,
                end_date=f'2030-01-01T{start:02}:01:00Z', **facts,
            )  # fmt: skip

        firm = {'firm_at': '2030-01-01T08:00:00Z'}
        self.follow(
            (flexible('WAITING', 1), []),
            (flexible('PENDING', 9, **firm), []),
            (flexible('PENDING', 8, **firm), []),
            (flexible('ACTIVE', 8, left=180), []),
            (flexible('WAITING', 9, left=120), []),
            (flexible('TERMINATED', 9), []),
            status='TERMINATED',
        )
        at = '2030-01-01 {} UTC'.format
        self.assertEqual(
            [
                'WAITING: for room, 1m left',
                f'PENDING: {at("09:00")} to {at("09:01")}, firm from {at("08:00")} on',
                f'PENDING: {at("08:00")} to {at("08:01")}, firm from {at("08:00")} on',
                f'ACTIVE: {at("08:00")} to {at("08:01")}, when it yields',
                'WAITING: for room, 2m left',
                f'TERMINATED: {at("09:00")} to {at("09:01")}',
            ],
            self.lines,
        )

    def test_the_bar_goes_on_to_the_end(self) -> None:
        self.follow(('ACTIVE', []), ('TERMINATED', []), status='TERMINATED')
        self.assertEqual('end', self.shares[0][0])

    def test_an_interruption_is_survived(self) -> None:
        gone = auth_exceptions.ConnectFailure('Unable to connect\nreally')
        busy = exceptions.HttpException('Service Unavailable', http_status=503)
        found = self.follow(
            ('PENDING', []), (gone, []), (busy, []), (gone, []), ('ACTIVE', []), status='ACTIVE'
        )
        self.assertEqual('ACTIVE', found.status)
        actual = [line for line in self.lines if 'ACTIVE' not in line and 'PENDING' not in line]
        self.assertEqual(['interrupted: Unable to connect', 'the service answers again'], actual)
        self.assertEqual([1.0, 2.0, 4.0], self.pauses[-3:])

    def test_other_errors_are_raised(self) -> None:
        denied = exceptions.HttpException('no', http_status=403)
        self.assertRaises(exceptions.HttpException, self.follow, (denied, []))

    def test_it_gives_up_in_time(self) -> None:
        until = START + datetime.timedelta(seconds=30)
        self.assertEqual('PENDING', self.follow(('PENDING', []), until=until).status)
        self.assertEqual(30, sum(self.pauses))
        gone = [(auth_exceptions.ConnectFailure('gone'), [])] * 20
        self.assertRaises(auth_exceptions.ConnectFailure, self.follow, *gone, until=until)

    def test_a_lease_that_fails_or_ends_is_returned(self) -> None:
        for status in ('ERROR', 'TERMINATED'):
            self.assertEqual(status, self.follow((status, [])).status)
