# SPDX-License-Identifier: Apache-2.0

"""The limits of projects, as operators write them."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

from climate import conf as climate_conf
from climate import exceptions
from climate.conf import enforcement
from climate.conf import limits
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from tests import base


def configured(**options: Any) -> ProjectLimits:
    """Return the limits that these options of ``[limits]`` make."""
    conf = cfg.ConfigOpts()
    climate_conf.register_opts(conf, enforcement, limits)
    conf([])
    conf.set_override('exempt_projects', ['free'], group='enforcement')
    for name, value in options.items():
        conf.set_override(name, value, group='limits')
    return ProjectLimits.from_conf(conf)


class TestProjectLimits(base.TestCase):
    """Of each project."""

    def test_by_default(self) -> None:
        usual = Limits(
            leases=100,
            reservations_per_lease=20,
            days_per_lease=366,
            idempotency_keys=10_000,
            holds=5,
            offers=1000,
            webhooks=10,
            feeds=50,
        )
        self.assertEqual(usual, configured().of('blue'))
        self.assertEqual(Limits(), configured().of('free'))

    def test_overridden(self) -> None:
        limits = configured(
            override=['blue: leases=500,days_per_lease = 0', 'free:resources=3'], resources=7
        )
        blue = Limits(
            leases=500,
            reservations_per_lease=20,
            resources=7,
            idempotency_keys=10_000,
            holds=5,
            offers=1000,
            webhooks=10,
            feeds=50,
        )
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
