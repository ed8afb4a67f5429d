# SPDX-License-Identifier: Apache-2.0

"""What is recorded reaches the recorder of the process, if there is one."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from climate.metrics import catalogue
from climate.metrics import recording
from tests import base
from tests import metrics

_CALLS = 20000
# The cost of an event that is not recorded, as a multiple of an empty function call.
_MOST = 6.0


class TestRecording(base.TestCase):
    """With and without a recorder."""

    def test_recorded(self) -> None:
        recorded = self.useFixture(metrics.RecordedMetrics())
        self.assertTrue(recording.enabled())
        recording.count(catalogue.CLAIMS, number=3)
        recording.observe(catalogue.LATENESS, 0.5, 'end_lease')
        recording.assign(catalogue.CONNECTIONS, 7)
        self.assertEqual([(3,)], recorded.of(catalogue.CLAIMS))
        self.assertEqual([('end_lease', 0.5)], recorded.of(catalogue.LATENESS))
        self.assertEqual([(7,)], recorded.of(catalogue.CONNECTIONS))

    def test_nothing_is_recorded_by_default(self) -> None:
        self.assertFalse(recording.enabled())
        recording.count(catalogue.EVENTS, 'start_lease', 'done')

    def test_prometheus_is_not_loaded_by_default(self) -> None:
        self.assertNotIn('prometheus_client', vars(sys.modules['climate.metrics.recording']))

    def test_it_costs_next_to_nothing_without_a_recorder(self) -> None:
        def nothing(_metric: object, _value: float, *_labels: str) -> None:
            return None

        # The best of several rounds: other processes disturb some of them.
        rounds = [_seconds(recording.observe) / _seconds(nothing) for _ in range(5)]
        self.assertLess(min(rounds), _MOST)


def _seconds(function: Callable[..., None]) -> float:
    begun = time.process_time()
    for _ in range(_CALLS):
        function(catalogue.CLOUD_CALLS, 0.1, 'nova', 'ok')
    return time.process_time() - begun
