# SPDX-License-Identifier: Apache-2.0

"""The file of machines, and the file of what was learned."""

from __future__ import annotations

import datetime
import pathlib

import fixtures

from climate import exceptions
from climate.power import hosts
from climate.power.records import PowerRecord
from climate.power.records import PowerRecords
from tests import base

SECRET = 'k33p out'


class FileCase(base.TestCase):
    """A directory."""

    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def read(self, text: str) -> dict[str, hosts.Machine]:
        path = self.folder / 'hosts.yaml'
        path.write_text(text)
        return hosts.read(str(path))


class TestHosts(FileCase):
    """Machines."""

    def test_each_has_the_defaults_but_for_what_it_says(self) -> None:
        (self.folder / 'password').write_text(f'{SECRET}\n')
        found = self.read(
            f"""
            defaults: {{username: root, password_file: {self.folder}/password, verify: false}}
            hosts:
              compute-1: {{address: "https://10.0.0.1", verify: /etc/ca.pem}}
              compute-2: {{address: "http://[::1]:8000", system: "7"}}
              compute-3: {{driver: ironic, node: abc}}
            """
        )
        one, two, three = found.values()
        self.assertEqual(('redfish', 'root', SECRET), (one.driver, one.username, one.password))
        self.assertEqual(('/etc/ca.pem', False), (one.verify, two.verify))
        self.assertEqual(('ironic', 'abc'), (three.driver, three.node))
        self.assertNotIn(SECRET, repr(found))

    def test_errors_are_reported_without_secrets(self) -> None:
        for text in (
            '',
            '[]',
            'hosts: []',
            '{',
            f'hosts: {{a: {{passwort: {SECRET}}}}}',
            f'hosts: {{a: {{address: "https://x:{SECRET}@bmc"}}}}',
            f'hosts: {{a: {{password: {SECRET}, password_file: /x}}}}',
            'hosts: {a: {password_file: /nowhere}}',
            f'hosts: {{a: {{password: [{SECRET}]}}}}\n  x',
        ):
            error = self.assertRaises(exceptions.ConfigurationError, self.read, text)
            self.assertIn('hosts.yaml', error.message)
            self.assertNotIn(SECRET, error.message)
        self.assertRaises(exceptions.ConfigurationError, hosts.read, '/nowhere')


class TestRecords(FileCase):
    """What was learned."""

    def test_it_survives(self) -> None:
        path = self.folder / 'new' / 'power.json'
        records = PowerRecords(path)
        now = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
        record = PowerRecord(woken_at=now, asks=2, down_seen=True)
        for seconds in range(9):
            record = record.measured(seconds + 0.123)
        records.put('compute-1', record)
        records.save()
        again = PowerRecords(path)
        self.assertEqual(record, again.of('compute-1'))
        self.assertEqual((4.1, 5.1, 6.1, 7.1, 8.1), again.of('compute-1').boots)
        self.assertEqual(PowerRecord(), again.of('compute-2'))
        before = path.stat().st_mtime_ns
        again.save()
        self.assertEqual(before, path.stat().st_mtime_ns)

    def test_what_is_no_record_stops_the_process(self) -> None:
        path = self.folder / 'power.json'
        for text in ('', '[]', '{}', '{"hosts": {"a": {}}}', '{"hosts": {"a": 7}}'):
            path.write_text(text)
            self.assert_error(exceptions.ConfigurationError, 'power.json', PowerRecords, path)

    def test_a_file_that_cannot_be_written_is_reported(self) -> None:
        records = PowerRecords(self.folder / 'power.json')
        records.put('compute-1', PowerRecord(asks=1))
        (self.folder / 'power.json').mkdir()
        records.save()
        self.assertIn('cannot be stored', self.log.output)
        (self.folder / 'power.json').rmdir()
        records.save()
        self.assertEqual(1, PowerRecords(self.folder / 'power.json').of('compute-1').asks)
