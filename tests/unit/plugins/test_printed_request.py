# SPDX-License-Identifier: Apache-2.0

"""The request that the page on plugins declares, as printed."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from typing import Annotated
from typing import Any
from typing import Literal

from climate import exceptions
from climate.plugins import fields
from climate.plugins import models
from climate.plugins.fields import Fixed
from tests import base
from tests.architecture import ROOT

PAGE = ROOT / 'doc' / 'source' / 'contributor' / 'plugins.rst'
TYPE = 'scope'


def declared() -> models.Model[Any]:
    """Return what follows from the class on the page."""
    block = re.search(
        r'code-block:: python\n\n((?:   .*\n|\n)*?   class ScopeRequest(?:.*\n)(?:   .*\n|\n)+)',
        PAGE.read_text(encoding='utf-8'),
    )
    assert block is not None
    names: dict[str, Any] = {
        'dataclasses': dataclasses,
        'models': models,
        'fields': fields,
        'Fixed': Fixed,
        'Annotated': Annotated,
        'Literal': Literal,
        '__name__': __name__,
    }
    exec(textwrap.dedent(block[1]), names)
    return models.of(names['ScopeRequest'])


class TestPrintedRequest(base.TestCase):
    """A body is read as the page says."""

    def test_it_reads_what_clients_send(self) -> None:
        found = declared().parse({'amount': '5'}, TYPE, strict=True)
        self.assertEqual((5, 'red'), (found.amount, found.colour))

    def test_it_refuses_what_the_declaration_excludes(self) -> None:
        model = declared()
        for body in ({'amount': 10}, {'amount': 1, 'colour': 'green'}, {}):
            self.assertRaises(exceptions.InvalidInput, model.parse, body, TYPE, strict=True)

    def test_a_field_is_fixed_once_the_lease_runs(self) -> None:
        model = declared()
        request = model.parse({'amount': 1}, TYPE, strict=True)
        found = model.change(request, {'colour': 'blue'}, TYPE, strict=True, running=False).colour
        self.assertEqual('blue', found)
        with self.assertRaises(exceptions.CantUpdateParameter):
            model.change(request, {'colour': 'blue'}, TYPE, strict=True, running=True)
