# SPDX-License-Identifier: Apache-2.0

"""Reservations of any type, with fields as its schema describes them."""

from __future__ import annotations

import types
from typing import Any

from osc_lib import exceptions

from climate.client import reservation_reader
from climate.client import reservations
from climate.client.osc import typed
from tests import base

NODE = {
    'amount': {'type': 'integer'},
    'image': {'type': 'string'},
    'raid': {'anyOf': [{'type': 'boolean'}, {'type': 'null'}]},
    'disks': {'type': ['array', 'null']},
    'size': {'type': ['integer', 'string']},
}
HOST = {'min': {'type': 'integer'}, 'max': {'type': 'integer'}, 'resource_properties': {}}


class Proxy:
    """A service with three types."""

    def get_resource_type(self, name: str) -> Any:
        """Return a type with its schema."""
        known = {'baremetal:node': NODE, 'physical:host': HOST, 'network': {}}
        return types.SimpleNamespace(reservation_schema={'properties': known[name]})


class TypedReservationsTest(base.TestCase):
    """Texts become values."""

    def read(self, *given: tuple[str, str]) -> list[dict[str, Any]]:
        proxy: Any = Proxy()
        return typed.typed(proxy, reservation_reader.build(given))

    def test_values(self) -> None:
        for text, expected in (
            (
                'baremetal:node=2,image=rocky,raid=true,size=5',
                {'amount': 2, 'image': 'rocky', 'raid': True, 'size': 5},
            ),
            ('baremetal:node,image=5,size=large', {'amount': 1, 'image': '5', 'size': 'large'}),
            ('baremetal:node,disks=[1],raid=null', {'amount': 1, 'disks': [1], 'raid': None}),
            ('physical:host=2-4', {'min': 2, 'max': 4}),
            ('physical:host=2', {'min': 2, 'max': 2}),
            ('network', {}),
        ):
            kind = text.partition(',')[0].partition('=')[0]
            self.assertEqual([{'resource_type': kind, **expected}], self.read(('resource', text)))

    def test_with_a_requirement(self) -> None:
        (found,) = self.read(('resource', 'physical:host=1'), ('where', 'vcpus >= 8'))
        self.assertEqual('[">=", "$vcpus", "8"]', found['resource_properties'])
        (plain,) = self.read(('hosts', '1'))
        self.assertEqual({'resource_type': 'physical:host', 'min': 1, 'max': 1}, plain)

    def test_what_is_wrong(self) -> None:
        for text, expected in (
            ('baremetal:node=1,os=x', 'has no field os; it has amount, disks, image, raid, size'),
            ('network=2', 'network has no amount such as 2'),
        ):
            self.assert_error(exceptions.CommandError, expected, self.read, ('resource', text))
        for text in ('=2', 'network=x', 'network,name'):
            self.assertRaises(reservations.ReservationSyntaxError, self.read, ('resource', text))
