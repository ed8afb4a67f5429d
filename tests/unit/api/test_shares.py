# SPDX-License-Identifier: Apache-2.0
"""Which requests are carried out, which wait, and which are refused."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from typing import Any

from climate import exceptions
from climate.api.limits.shares import CallerGroup
from climate.api.limits.shares import SharedThreads
from climate.api.limits.shares import ShareSettings
from climate.api.limits.shares import Spending
from climate.api.limits.shares import ThreadShares
from climate.api.limits.shares import WORK
from climate.metrics import recording
from climate.metrics.catalogue import MetricSpec
from tests import base
from tests.functional.processes import until

# Longer than any test takes.
PATIENT = 60.0


class Gauges:
    """The last value of each gauge."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, ...], float] = {}

    def count(self, metric: MetricSpec, labels: Any, number: float) -> None:
        """Ignore a counter."""

    def observe(self, metric: MetricSpec, labels: Any, value: float) -> None:
        """Ignore a histogram."""

    def set(self, metric: MetricSpec, labels: Any, value: float) -> None:
        """Keep the value of a gauge."""
        self.values[tuple(map(str, labels))] = value


class SharesCase(base.TestCase):
    """A process with eight threads."""

    def setUp(self) -> None:
        super().setUp()
        self.gauges = Gauges()
        recording.use(self.gauges)
        self.addCleanup(recording.use)
        self.pool = futures.ThreadPoolExecutor(16)
        self.addCleanup(self.pool.shutdown)

    def shares(self, **settings: Any) -> ThreadShares:
        return ThreadShares(ShareSettings(**{'threads': 8, 'wait': 0.0, **settings}))

    def number(self, state: str, group: str = 'project') -> float:
        return self.gauges.values.get((group, state), 0)

    def waiting(self, shares: ThreadShares, number: int, project: str = 'red') -> list[Any]:
        """Let requests wait; return their futures."""
        found = []
        for _ in range(number):
            known = self.number('waiting')
            found.append(self.pool.submit(shares.begin, CallerGroup.PROJECT, project))
            until('it waits', functools.partial(self.waits, known + 1))
        return found

    def waits(self, number: float) -> bool:
        """Whether so many requests wait."""
        return self.number('waiting') == number


class TestNumbers(SharesCase):
    """How many are carried out at once."""

    def test_a_quarter(self) -> None:
        for threads, most in ((1, 2), (8, 2), (12, 3), (40, 10)):
            shares = self.shares(threads=threads)
            works = [shares.begin(CallerGroup.PROJECT, 'red') for _ in range(most)]
            error = self.assertRaises(
                exceptions.TooManyAtOnce, shares.begin, CallerGroup.PROJECT, 'red'
            )
            self.assertEqual(1, error.facts['retry_after'])
            self.assertIn(f'carries out {most} of them', error.message)
            shares.begin(CallerGroup.PROJECT, 'blue')
            works[0].end()
            shares.begin(CallerGroup.PROJECT, 'red')

    def test_groups_are_apart(self) -> None:
        shares = self.shares()
        for group, most in (
            (CallerGroup.PROJECT, 2),
            (CallerGroup.ANONYMOUS, 2),
            (CallerGroup.OPERATORS, 4),
        ):
            for _ in range(most):
                shares.begin(group)
            self.assertRaises(exceptions.TooManyAtOnce, shares.begin, group)

    def test_no_limit(self) -> None:
        shares = self.shares(project_share=1.0)
        for _ in range(50):
            shares.begin(CallerGroup.PROJECT, 'red')

    def test_ended_twice(self) -> None:
        shares = self.shares()
        work = shares.begin(CallerGroup.PROJECT, 'red')
        shares.begin(CallerGroup.PROJECT, 'red')
        for _ in range(3):
            work.end()
        shares.begin(CallerGroup.PROJECT, 'red')
        self.assertRaises(exceptions.TooManyAtOnce, shares.begin, CallerGroup.PROJECT, 'red')

    def test_one_that_is_idle_counts_no_more(self) -> None:
        shares = self.shares()
        works = [shares.begin(CallerGroup.PROJECT, 'red') for _ in range(2)]
        works[0].idle()
        works[0].idle()
        works.append(shares.begin(CallerGroup.PROJECT, 'red'))
        self.assertRaises(exceptions.TooManyAtOnce, shares.begin, CallerGroup.PROJECT, 'red')
        works[0].end()
        self.assertRaises(exceptions.TooManyAtOnce, shares.begin, CallerGroup.PROJECT, 'red')
        for work in works:
            work.end()
        self.assertEqual(0, self.number('running'))


class TestWaiting(SharesCase):
    """Who waits for a moment."""

    def test_the_first_begins_first(self) -> None:
        shares = self.shares(wait=PATIENT)
        works = [shares.begin(CallerGroup.PROJECT, 'red') for _ in range(2)]
        first, second = self.waiting(shares, 2)
        works[0].end()
        first.result(PATIENT).end()
        second.result(PATIENT).end()
        works[1].end()
        self.assertEqual((0, 0), (self.number('running'), self.number('waiting')))

    def test_not_longer_than_allowed(self) -> None:
        shares = self.shares(wait=0.01)
        works = [shares.begin(CallerGroup.PROJECT, 'red') for _ in range(2)]
        self.assertRaises(exceptions.TooManyAtOnce, shares.begin, CallerGroup.PROJECT, 'red')
        self.assertEqual((2, 0), (self.number('running'), self.number('waiting')))
        works[0].end()
        shares.begin(CallerGroup.PROJECT, 'red')

    def test_a_quarter_of_the_threads_stays_free(self) -> None:
        shares = self.shares(wait=PATIENT)
        works = [shares.begin(CallerGroup.PROJECT, 'red') for _ in range(2)]
        waiting = self.waiting(shares, 4)
        self.assertRaises(exceptions.TooManyAtOnce, shares.begin, CallerGroup.PROJECT, 'red')
        # Others need the threads of the last two that wait.
        works += [shares.begin(CallerGroup.PROJECT, project) for project in ('blue', 'green')]
        for refused in waiting[2:]:
            self.assertIsInstance(refused.exception(PATIENT), exceptions.TooManyAtOnce)
        self.assertEqual((4, 2), (self.number('running'), self.number('waiting')))
        for work in works:
            work.end()
        for begun in waiting[:2]:
            begun.result(PATIENT).end()
        self.assertEqual((0, 0), (self.number('running'), self.number('waiting')))

    def test_many_threads(self) -> None:
        shares = self.shares(wait=PATIENT)
        lock, now, peak = threading.Lock(), [0], [0]

        def work(number: int) -> bool:
            try:
                begun = shares.begin(CallerGroup.PROJECT, 'red')
            except exceptions.TooManyAtOnce:
                return False
            with lock:
                now[0] += 1
                peak[0] = max(peak[0], now[0])
            with lock:
                now[0] -= 1
            if number % 3 == 0:
                begun.idle()
            begun.end()
            return True

        self.assertGreater(sum(self.pool.map(work, range(500))), 0)
        self.assertLessEqual(peak[0], 2)
        self.assertEqual((0, 0), (self.number('running'), self.number('waiting')))


class TestProcessorTime(SharesCase):
    """Projects that use more than their share of the processor time."""

    def setUp(self) -> None:
        super().setUp()
        self.now = 0.0
        self.worked = 0.0

    def shares(self, **settings: Any) -> ThreadShares:
        settings = {'threads': 8, 'wait': 0.0, **settings}
        return ThreadShares(ShareSettings(**settings), lambda: self.now, lambda: self.worked)

    def spend(self, shares: ThreadShares, seconds: float, project: str = 'red') -> None:
        """Let a request use processor time."""
        work = shares.begin(CallerGroup.PROJECT, project)
        self.worked += seconds
        work.end()

    def pauses(self, shares: ThreadShares, project: str = 'red') -> bool:
        """Whether a project gets no second thread."""
        first = shares.begin(CallerGroup.PROJECT, project)
        try:
            shares.begin(CallerGroup.PROJECT, project).end()
        except exceptions.TooManyAtOnce:
            return True
        finally:
            first.end()
        return False

    def test_alone(self) -> None:
        shares = self.shares()
        self.spend(shares, 60)
        self.assertFalse(self.pauses(shares))

    def test_beside_others(self) -> None:
        shares = self.shares()
        self.spend(shares, 2.25)
        shares.begin(CallerGroup.PROJECT, 'blue').end()
        self.assertTrue(self.pauses(shares))
        self.assertFalse(self.pauses(shares, 'blue'))
        # A quarter of each second is paid back.
        for _ in range(7):
            self.now += 1
            shares.begin(CallerGroup.PROJECT, 'blue').end()
            self.assertTrue(self.pauses(shares))
        self.now += 1
        shares.begin(CallerGroup.PROJECT, 'blue').end()
        self.assertFalse(self.pauses(shares))

    def test_others_have_gone(self) -> None:
        shares = self.shares()
        shares.begin(CallerGroup.PROJECT, 'blue').end()
        self.spend(shares, 60)
        self.assertTrue(self.pauses(shares))
        self.now += 2
        self.assertFalse(self.pauses(shares))

    def test_one_request_after_another_is_never_refused(self) -> None:
        shares = self.shares()
        for _ in range(5):
            shares.begin(CallerGroup.PROJECT, 'blue').end()
            self.spend(shares, 5)

    def test_it_pauses_for_as_long_as_a_request_waits(self) -> None:
        waited = ThreadShares(ShareSettings(threads=8, wait=0.2), worked=lambda: self.worked)
        waited.begin(CallerGroup.PROJECT, 'blue').end()
        self.spend(waited, 60)
        began = time.monotonic()
        self.spend(waited, 5)
        self.assertGreaterEqual(time.monotonic() - began, 0.2)

    def test_none_passes_those_that_pause(self) -> None:
        shares = self.shares(wait=PATIENT)
        shares.begin(CallerGroup.PROJECT, 'blue').end()
        self.spend(shares, 60)
        waiting = self.waiting(shares, 6)
        self.assertRaises(exceptions.TooManyAtOnce, shares.begin, CallerGroup.PROJECT, 'red')
        # Their pause is over; the clock of this test stands still until then.
        self.addCleanup(setattr, self, 'now', 3 * PATIENT)
        self.now += PATIENT
        until('one runs', waiting[0].done)
        self.assertIsNone(waiting[0].exception())

    def test_what_is_known_is_bounded(self) -> None:
        spending = Spending(0.25)
        for number in range(5000):
            spending.add((CallerGroup.PROJECT, str(number)), 0.001, float(number))
        self.assertLessEqual(len(spending._debts), 1001)


class TestResponses(SharesCase):
    """When the work of a request ends."""

    def send(self, answer: Any, method: str = 'GET') -> Any:
        shares = self.shares()
        shares.begin(CallerGroup.ANONYMOUS)
        environ: dict[str, Any] = {'REQUEST_METHOD': method}

        def app(environ: Any, start_response: Any) -> Any:
            self.assertIn(WORK, environ)
            self.assertRaises(exceptions.TooManyAtOnce, shares.begin, CallerGroup.ANONYMOUS)
            if isinstance(answer, Exception):
                raise answer
            return answer

        self.begin = lambda: shares.begin(CallerGroup.ANONYMOUS)
        return SharedThreads(app, shares)(environ, lambda *_: None)

    def test_whole(self) -> None:
        self.assertEqual([b'all'], self.send([b'all']))
        self.begin()

    def test_error(self) -> None:
        self.assertRaises(OSError, self.send, OSError())
        self.begin()

    def test_streamed(self) -> None:
        answer = self.send(iter([b'a', b'b']))
        self.assertRaises(exceptions.TooManyAtOnce, self.begin)
        self.assertEqual([b'a', b'b'], list(answer))
        self.begin()
        answer.close()
        self.assertRaises(exceptions.TooManyAtOnce, self.begin)

    def test_not_read_to_the_end(self) -> None:
        closed = []

        def parts() -> Iterator[bytes]:
            try:
                yield b'a'
                yield b'b'
            finally:
                closed.append(True)

        answer = self.send(parts())
        self.assertEqual(b'a', next(iter(answer)))
        self.assertRaises(exceptions.TooManyAtOnce, self.begin)
        answer.close()
        self.assertEqual([True], closed)
        self.begin()

    def test_one_that_fails_halfway(self) -> None:
        def parts() -> Iterator[bytes]:
            yield b'a'
            raise OSError

        answer = self.send(parts())
        self.assertRaises(OSError, list, answer)
        answer.close()
        self.begin()

    def test_without_a_body(self) -> None:
        self.send(iter(()), 'HEAD')
        self.begin()
