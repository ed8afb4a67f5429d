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

"""Options that describe reservations become what the API takes."""

from __future__ import annotations

from climate.client import reservations
from climate.client import sizes
from tests import base


class ReservationOptionsTest(base.TestCase):
    """Several options are one lease."""

    def test_each_type(self) -> None:
        given = [
            ('hosts', '2-4'),
            ('where', 'vcpus >= 32'),
            ('instances', '10'),
            ('vcpus', '4'),
            ('memory', '8G'),
            ('affinity', 'different'),
            ('flavor', 'm1.large=10'),
            ('server', 'web'),
            ('volume', '500G:ssd=2'),
            ('volume', '1T'),
            ('floating-ip', 'public=2'),
            ('network', 'lab'),
            ('storage', '1'),
            ('custom', 'licence=4'),
            ('custom', 'custom:laser'),
            ('reservation', '{"resource_type": "virtual:stack", "a": 1}'),
        ]
        self.assertEqual(
            [
                {
                    'resource_type': 'physical:host',
                    'min': 2,
                    'max': 4,
                    'resource_properties': '[">=", "$vcpus", "32"]',
                },
                {
                    'resource_type': 'virtual:instance',
                    'amount': 10,
                    'vcpus': 4,
                    'memory_mb': 8192,
                    'disk_gb': 0,
                    'affinity': 'False',
                },
                {'resource_type': 'flavor:instance', 'flavor_id': 'm1.large', 'amount': 10},
                {'resource_type': 'virtual:server', 'server_id': 'web'},
                {
                    'resource_type': 'virtual:volume',
                    'size': 500,
                    'volume_type': 'ssd',
                    'amount': 2,
                },
                {'resource_type': 'virtual:volume', 'size': 1024, 'amount': 1},
                {'resource_type': 'virtual:floatingip', 'network_id': 'public', 'amount': 2},
                {'resource_type': 'network', 'network_name': 'lab'},
                {'resource_type': 'physical:storage', 'min': 1, 'max': 1},
                {'resource_type': 'custom:licence', 'amount': 4},
                {'resource_type': 'custom:laser', 'amount': 1},
                {'resource_type': 'virtual:stack', 'a': 1},
            ],
            reservations.build(given),
        )

    def test_what_is_wrong_names_the_option(self) -> None:
        for given, message in (
            ([('hosts', 'two')], "--hosts: 'two' is no number"),
            ([('vcpus', '4')], '--vcpus: it must follow --instances'),
            ([('hosts', '1'), ('memory', '8G')], '--memory: it must follow --instances'),
            ([('where', 'a == 1')], '--where: it must follow --hosts or --instances or'),
            ([('hosts', '1'), ('where', 'a')], '--where: column 2'),
            ([('instances', '1'), ('memory', '8X')], "--memory: '8X' is no size"),
            ([('instances', '1'), ('affinity', 'no')], "--affinity: 'no' is unknown"),
            ([('volume', '512M')], "--volume: '512M' is no whole number of GiB"),
            ([('reservation', '[]')], '--reservation: a JSON object'),
            ([('reservation', '{')], '--reservation: not JSON'),
        ):
            error = self.assertRaises(
                reservations.ReservationSyntaxError, reservations.build, given
            )
            self.assertIn(message, str(error))

    def test_sizes(self) -> None:
        self.assertEqual(
            [512, 512, 8192, 1024**2], [sizes.mebibytes(t) for t in ('512', '512M', '8GiB', '1T')]
        )
        self.assertEqual([40, 40, 2048], [sizes.gibibytes(t) for t in ('40', '40G', '2TB')])
