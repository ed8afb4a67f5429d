# SPDX-License-Identifier: Apache-2.0

"""Options that describe reservations become what the API takes."""

from __future__ import annotations

import json
import pathlib

import fixtures

from climate.client import reservation_reader
from climate.client import reservations
from climate.client import sizes
from tests import base


class ReservationOptionsTest(base.TestCase):
    """Several options are one lease."""

    def refusal(self, given: list[tuple[str, str]]) -> str:
        """Return why options are refused."""
        error = reservations.ReservationSyntaxError
        return str(self.assertRaises(error, reservation_reader.build, given))

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
        expected = [
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
            {'resource_type': 'virtual:volume', 'size': 500, 'volume_type': 'ssd', 'amount': 2},
            {'resource_type': 'virtual:volume', 'size': 1024, 'amount': 1},
            {'resource_type': 'virtual:floatingip', 'network_id': 'public', 'amount': 2},
            {'resource_type': 'network', 'network_name': 'lab'},
            {'resource_type': 'physical:storage', 'min': 1, 'max': 1},
            {'resource_type': 'custom:licence', 'amount': 4},
            {'resource_type': 'custom:laser', 'amount': 1},
            {'resource_type': 'virtual:stack', 'a': 1},
        ]
        self.assertEqual(expected, reservation_reader.build(given))

    def test_what_is_wrong_names_the_option(self) -> None:
        for given, message in (
            ([('hosts', 'two')], "--hosts: 'two' is no number"),
            ([('vcpus', '4')], '--vcpus: it must follow --instances'),
            ([('hosts', '1'), ('memory', '8G')], '--memory: it must follow --instances'),
            (
                [('where', 'a == 1')],
                '--where: it must follow --hosts, --instances, --flavor, --server, --boot',
            ),
            ([('hosts', '1'), ('where', 'a')], '--where: column 2'),
            ([('instances', '1'), ('memory', '8X')], "--memory: '8X' is no size"),
            ([('instances', '1'), ('affinity', 'no')], "--affinity: 'no' is unknown"),
            ([('volume', '512M')], "--volume: '512M' is no whole number of GiB"),
            ([('reservation', '[]')], '--reservation: a JSON object'),
            ([('reservation', '{')], '--reservation: not JSON'),
        ):
            self.assertIn(message, self.refusal(given))

    def test_sizes(self) -> None:
        found = [sizes.mebibytes(t) for t in ('512', '512M', '8GiB', '1T')]
        self.assertEqual([512, 512, 8192, 1024**2], found)
        self.assertEqual([40, 40, 2048], [sizes.gibibytes(t) for t in ('40', '40G', '2TB')])

    def test_a_server_to_boot(self) -> None:
        given = [
            ('boot', 'web=m1.small:ubuntu'),
            ('nic', 'private'),
            ('nic', 'public'),
            ('on-end', 'snapshot, delete'),
        ]
        expected = [
            {
                'resource_type': 'virtual:server',
                'name': 'web',
                'flavor': 'm1.small',
                'image': 'ubuntu',
                'networks': [{'uuid': 'private'}, {'uuid': 'public'}],
                'on_end': ['snapshot', 'delete'],
            }
        ]
        self.assertEqual(expected, reservation_reader.build(given))

    def test_a_stack_with_its_files(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'start.sh').write_text('echo hello')
        template, environment = folder / 'course.yaml', folder / 'env.yaml'
        template.write_text('heat_template_version: 2021-04-16\na: {get_file: start.sh}\n')
        environment.write_text('parameters: {image: ubuntu}')
        found = reservation_reader.build(
            [
                ('stack', str(template)),
                ('environment', str(environment)),
                ('parameter', 'desks=12'),
                ('parameter', 'image=a=b'),
            ]
        )[0]
        address = f'file://{folder}/start.sh'
        self.assert_has(
            found,
            resource_type='virtual:stack',
            name='course',
            parameters={'desks': '12', 'image': 'a=b'},
        )
        self.assertEqual({address: 'echo hello'}, found['files'])
        self.assertEqual(address, json.loads(found['template'])['a']['get_file'])
        self.assertEqual('ubuntu', json.loads(found['environment'])['parameters']['image'])
        named = reservation_reader.build([('stack', f'exam={template}')])[0]
        self.assertEqual('exam', named['name'])

    def test_what_cannot_be_read(self) -> None:
        for given, text in (
            ([('boot', 'web=m1.small')], "--boot: 'web=m1.small' is no NAME=FLAVOR:IMAGE"),
            ([('stack', '/nowhere.yaml')], '--stack: /nowhere.yaml: No such file'),
            ([('boot', 'a=b:c'), ('user-data', '/nowhere')], '--user-data: /nowhere: No such'),
            ([('stack', __file__)], '--stack: '),
            ([('stack', '=course.yaml')], "--stack: '=course.yaml' has no name"),
            ([('hosts', '1'), ('on-end', 'delete')], '--on-end: it must follow --server, --boot'),
        ):
            self.assertIn(text, self.refusal(given))

    def test_a_file_that_cannot_be_used_is_explained_in_one_line(self) -> None:
        file = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'course.yaml'
        for option, content, text in (
            ('stack', b'heat_template_version: [', 'line 1, column 25: '),
            ('stack', b'- a', 'Template format version not found.'),
            ('stack', b' ', 'the file is empty'),
            ('stack', b'\xff', 'not a text in UTF-8'),
            ('environment', b'parameters: [', 'line 1, column 14: '),
            ('user-data', b'\xff', 'not a text in UTF-8'),
        ):
            file.write_bytes(content)
            owner = {
                'environment': [('stack', self._template())],
                'user-data': [('boot', 'a=b:c')],
            }.get(option, [])
            refusal = self.refusal([*owner, (option, str(file))])
            self.assertIn(f'--{option}: {file}: {text}', refusal)
            self.assertEqual(1, len(refusal.splitlines()))

    def _template(self) -> str:
        file = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'good.yaml'
        file.write_text('heat_template_version: 2021-04-16')
        return str(file)
