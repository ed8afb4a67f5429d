# SPDX-License-Identifier: Apache-2.0

"""The limits of projects, as operators write them."""

from __future__ import annotations

import dataclasses
from typing import Any

from climate import exceptions
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from tests import base
from tests import settings

USUAL = Limits(
    leases=100,
    reservations_per_lease=20,
    days_per_lease=366,
    idempotency_keys=10_000,
    holds=5,
    offers=1000,
    webhooks=10,
    feeds=50,
)


def configured(**options: Any) -> ProjectLimits:
    """Return the limits that these options of ``[limits]`` make."""
    conf = settings.configured('limits', **options)
    conf.set_override('exempt_projects', ['free'], group='enforcement')
    return ProjectLimits.from_conf(conf)


class TestProjectLimits(base.TestCase):
    """Of each project."""

    def test_by_default(self) -> None:
        self.assertEqual(USUAL, configured().of('blue'))
        self.assertEqual(Limits(), configured().of('free'))

    def test_overridden(self) -> None:
        limits = configured(
            override=['blue: leases=500,days_per_lease = 0', 'free:resources=3'], resources=7
        )
        blue = dataclasses.replace(USUAL, leases=500, days_per_lease=0, resources=7)
        self.assertEqual(blue, limits.of('blue'))
        self.assertEqual((100, 7), (limits.of('red').leases, limits.of('red').resources))
        self.assertEqual((100, 3), (limits.of('free').leases, limits.of('free').resources))

    def test_wrong(self) -> None:
        for text in (
            'blue',
            'blue:',
            'blue: leases',
            'blue: leases=-1',
            'blue: leases=many',
            'blue: lease=1',
            ': leases=1',
            'blue: leases=1,,days_ahead=1',
        ):
            error = self.assertRaises(exceptions.ConfigurationError, configured, override=[text])
            self.assertIn('[limits] override', error.message)

    def test_zero_is_no_limit(self) -> None:
        Limits().check('leases', 10**9)
        Limits(leases=3).check('leases', 3)
        error = self.assertRaises(exceptions.ProjectLimit, Limits(leases=3).check, 'leases', 4)
        self.assertEqual('Limit leases of the project is 3, and this would be 4', error.message)
