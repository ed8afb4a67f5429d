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

"""Which microversion a request speaks."""

from __future__ import annotations

import pathlib
import re

from climate import exceptions
from climate.api import microversions
from climate.api import middleware
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
        error = self.assertRaises(exceptions.NotAcceptable, requested, 'reservation 1.99')
        self.assertEqual(
            'Version 1.99 is not supported by the API. Minimum is 1.0 and maximum is 1.7.',
            error.message,
        )
        self.assertRaises(exceptions.NotAcceptable, requested, 'reservation 2.0')

    def test_each_one_has_its_lines_in_the_history(self):
        path = pathlib.Path(microversions.__file__).with_name('rest_api_version_history.rst')
        text = path.read_text(encoding='utf-8')
        told = re.findall(r'^(\d+\.\d+)\b.*\n-+$', text, re.MULTILINE)
        numbers = [number for number, _ in microversions.HISTORY]
        self.assertEqual(numbers, told)
        self.assertEqual((str(microversions.MIN), str(microversions.MAX)), (told[0], told[-1]))
