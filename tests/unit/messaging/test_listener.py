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

"""What is in the body of a message on the bus."""

from __future__ import annotations

import json
from typing import Any

from climate.messaging import listener
from climate.messaging import publisher
from tests import base
from tests.unit.messaging import samples


class TestContent(base.TestCase):
    """Both formats are understood, and nothing breaks the listener."""

    def test_both_formats(self) -> None:
        envelope = publisher.envelope(samples.message(), 'climate.lease')
        marked = {**envelope, '_unique_id': 'x', '_context_user': 'y'}
        packed = {'oslo.version': '2.0', 'oslo.message': json.dumps(marked)}
        for body in (marked, packed, json.dumps(packed), json.dumps(marked).encode()):
            self.assertEqual(envelope, listener.content(body))

    def test_rubbish(self) -> None:
        bodies: tuple[Any, ...] = (
            None,
            7,
            'x',
            b'\xff',
            [],
            {},
            {'oslo.message': 'x'},
            {'oslo.message': '7'},
        )
        for body in bodies:
            self.assertIsNone(listener.content(body))
