# SPDX-License-Identifier: Apache-2.0

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
