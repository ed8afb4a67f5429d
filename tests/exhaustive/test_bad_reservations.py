# SPDX-License-Identifier: Apache-2.0

"""Every field of a reservation of every type, wrong in every way there is.

The fields are those of the types' own schemas: a type that is added is tested
once it says what it looks like in the walk. What a schema refuses has to be
refused with a text that names the field; what it allows may be refused for
other reasons. Nothing is ever a 500, and what is refused changes not a row.
"""

from __future__ import annotations

from climate.testing.fields import Sweep
from climate.testing.kinds import LeasedType
from tests import base
from tests.functional import declared
from tests.functional import fixtures
from tests.functional.manager.walk import kinds

# What the text of a refusal calls a field, if not by its name.
_CALLED = {'required_floatingips': 'IP address', 'affinity': 'Affinity'}


class TestFields(base.TestCase):
    """A test for each type; they are made below."""

    def sweep(self, kind: LeasedType) -> Sweep:
        """Return the sweep of a kind, on a service of its own."""
        service = fixtures.Service(hosts=4, types=declared.plugins().values())
        return Sweep(self.useFixture(service), kind, _CALLED)

    def check_creation(self, kind: LeasedType) -> None:
        """Book with each field wrong."""
        self.assertEqual('', '\n'.join(self.sweep(kind).of_creations()))

    def check_change(self, kind: LeasedType) -> None:
        """Change each field of a booked lease to something wrong."""
        self.assertEqual('', '\n'.join(self.sweep(kind).of_changes()))


for _name, _kind in kinds.KINDS.items():
    _words = _name.replace(':', '_').replace(' ', '_')
    setattr(TestFields, f'test_create_{_words}', lambda self, kind=_kind: self.check_creation(kind))
    setattr(TestFields, f'test_change_{_words}', lambda self, kind=_kind: self.check_change(kind))
