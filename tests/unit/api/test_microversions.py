# SPDX-License-Identifier: Apache-2.0

"""Which microversion a request speaks."""

from __future__ import annotations

import pathlib
import re

from climate import exceptions
from climate.api.http import microversions
from climate.api.middleware import middleware
from tests import base


def requested(header):
    """Return the microversion asked for with *header*."""
    return middleware.requested({'HTTP_OPENSTACK_API_VERSION': header})


class MicroversionsTest(base.TestCase):
    """The header, and the list."""

    def test_none_is_the_oldest(self):
        self.assertEqual(microversions.MIN, middleware.requested({}))

    def test_asked_for(self):
        self.assertEqual((1, 0), requested('reservation 1.0'))
        self.assertEqual((1, 1), requested('compute 2.90, reservation 1.1'))
        self.assertEqual(microversions.MAX, requested('reservation latest'))

    def test_of_another_service_or_none(self):
        for header in ('1.1', 'compute 2.1', '', 'reservation', ','):
            self.assertEqual(microversions.MIN, requested(header), header)

    def test_malformed(self):
        for text in ('1', '1.', 'x.y', '1.01', '0.1', '1.1.1', '-1.0', '1 .1', '1.' + '1' * 50):
            error = self.assertRaises(exceptions.InvalidInput, requested, f'reservation {text}')
            self.assertEqual(
                f'API Version String {text} is of invalid format. '
                'Must be of format MajorNum.MinorNum.',
                error.message,
            )

    def test_not_served(self):
        self.assertEqual(
            'Version 1.99 is not supported by the API. Minimum is 1.0 and maximum is 1.8.',
            self.assertRaises(exceptions.NotAcceptable, requested, 'reservation 1.99').message,
        )
        self.assertRaises(exceptions.NotAcceptable, requested, 'reservation 2.0')

    def test_each_one_has_its_lines_in_the_history(self):
        path = pathlib.Path(microversions.__file__).parents[1] / 'rest_api_version_history.rst'
        documented = re.findall(
            r'^(\d+\.\d+)\b.*\n-+$', path.read_text(encoding='utf-8'), re.MULTILINE
        )
        self.assertEqual([number for number, _ in microversions.HISTORY], documented)
        self.assertEqual(
            (str(microversions.MIN), str(microversions.MAX)), (documented[0], documented[-1])
        )
