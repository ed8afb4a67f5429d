# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The limits of projects, as operators write them."""

from __future__ import annotations

from typing import Any

import testtools
from oslo_config import cfg

from climate import exceptions
from climate.conf import enforcement as enforcement_conf
from climate.conf import limits as limits_conf
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits


def configured(**options: Any) -> ProjectLimits:
    """Return the limits that these options of ``[limits]`` make."""
    conf = cfg.ConfigOpts()
    enforcement_conf.register_opts(conf)
    limits_conf.register_opts(conf)
    conf([])
    conf.set_override('exempt_projects', ['free'], group='enforcement')
    for name, value in options.items():
        conf.set_override(name, value, group='limits')
    return ProjectLimits.from_conf(conf)


class TestProjectLimits(testtools.TestCase):
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
