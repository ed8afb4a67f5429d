# SPDX-License-Identifier: Apache-2.0

"""The fields of leases that the SDK and the API reference know are those of the API."""

from __future__ import annotations

import re

from climate.api.views import leases
from climate.client.sdk.leases import Lease
from climate.client.sdk.leases import SINCE
from tests import base
from tests.architecture import ROOT

REFERENCE = ROOT / 'api-ref' / 'source' / 'leases.rst'
FIELDS = {field.name: field for field in leases.LEASE}


class TestLeaseFields(base.TestCase):
    """A field that the API shows."""

    def test_the_sdk_has_it(self) -> None:
        self.assertEqual(set(), FIELDS.keys() - Lease._body_mapping().keys())

    def test_the_sdk_knows_since_when(self) -> None:
        shared = FIELDS.keys() & SINCE.keys()
        self.assertIn('end_reason', shared)
        found = {name: SINCE[name] for name in shared}
        self.assertEqual({name: str(FIELDS[name].since) for name in shared}, found)

    def test_the_reference_has_it(self) -> None:
        text = REFERENCE.read_text(encoding='utf-8')
        section = re.search(r'^Show a lease\n=+\n(.*?)^=====', text, re.MULTILINE | re.DOTALL)
        assert section is not None
        named = set(re.findall(r'^   - (\w+): ', section[1], re.MULTILINE))
        self.assertEqual(set(), FIELDS.keys() - named)
