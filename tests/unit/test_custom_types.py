# SPDX-License-Identifier: Apache-2.0

"""The file in which operators declare resource types."""

from __future__ import annotations

import pathlib

import fixtures

from climate import exceptions
from climate.cmd import custom_types
from climate.domain.resource_types import Origin
from climate.domain.resources import Inventory
from tests.architecture import ROOT
from tests.base import TestCase


class FileTest(TestCase):
    """What stands in it, and what is wrong with it."""

    def write(self, text: str | bytes) -> str:
        """Return the path of a file."""
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'types.yaml'
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    def refusal(self, text: str | bytes) -> str:
        """Return why a file is refused; always in one line."""
        path = self.write(text)
        error = self.assertRaises(exceptions.ConfigurationError, custom_types.read, path)
        self.assertNotIn('\n', error.message)
        self.assertIn(f'[custom] types_file: {path}: ', error.message)
        return error.message

    def test_none(self) -> None:
        self.assertEqual((), custom_types.read(''))
        self.assertEqual((), custom_types.read(self.write('resource_types: []')))

    def test_the_one_of_the_guide(self) -> None:
        path = ROOT / 'doc' / 'source' / 'admin' / 'types.yaml'
        found = {item.name: item for item in custom_types.read(str(path))}
        expected = ['custom:board', 'custom:licence', 'custom:microscope', 'custom:rack']
        self.assertEqual(expected, sorted(found))
        self.assertEqual({Origin.FILE}, {item.origin for item in found.values()})
        wanted = (Inventory(resource_class='SEAT', total=10),)
        self.assertEqual(wanted, found['custom:licence'].classes)
        self.assertTrue(found['custom:microscope'].exclusive)

    def test_what_is_wrong(self) -> None:
        for text, why in (
            ('', 'resource_types'),
            ('[]', 'resource_types'),
            ('resource_types: []\nmore: 1', 'resource_types'),
            ('resource_types: {a: 1}', 'list'),
            ('resource_types: [', 'line 1'),
            ('resource_types:\n- name: custom:x\n  colour: red', 'type 1: Unknown field colour'),
            ('resource_types: [{name: "custom:x"}, {name: "x"}]', 'type 2: Malformed'),
            ('resource_types: [7]', 'type 1'),
            ('resource_types: [{name: "custom:x"}, {name: "custom:x"}]', 'declared twice'),
            (b'\xff\xfe\xfa', ''),
            ('a: \x00', ''),
        ):
            self.assertIn(why, self.refusal(text))

    def test_one_that_is_not_there(self) -> None:
        self.assert_error(
            exceptions.ConfigurationError,
            '/nowhere/types.yaml',
            custom_types.read,
            '/nowhere/types.yaml',
        )
