# SPDX-License-Identifier: Apache-2.0

"""Calls to the cloud are measured by service and outcome."""

from __future__ import annotations

from keystoneauth1 import exceptions as ksa

from climate import exceptions
from climate.cloud.errors import Errors
from climate.metrics import catalogue
from tests import base
from tests import metrics


class TestCallTimes(base.TestCase):
    """Each outcome once."""

    def test_outcomes(self) -> None:
        recorded = self.useFixture(metrics.RecordedMetrics())
        errors = Errors('Nova', None)
        with errors.translated('list_servers'):
            pass
        for error in (ksa.ConnectFailure(), ksa.BadRequest(), KeyError('servers')):
            try:
                with errors.translated('list_servers'):
                    raise error
            except exceptions.EffectError:
                continue
        self.assertEqual(
            [('nova', outcome) for outcome in ('ok', 'unavailable', 'refused', 'unavailable')],
            recorded.labels(catalogue.CLOUD_CALLS),
        )
        for *_, seconds in recorded.of(catalogue.CLOUD_CALLS):
            self.assertTrue(0 <= seconds < 5, seconds)
