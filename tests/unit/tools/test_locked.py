# SPDX-License-Identifier: Apache-2.0

"""What is picked from the constraints."""

from __future__ import annotations

from tests import base
from tools import locked

CONSTRAINTS = """\
# written by a tool
oslo-db==18.1.1 \\
    --hash=sha256:aa
    # via -r requirements.txt
prettytable==3.18.0 ; python_full_version >= '3.12' \\
    --hash=sha256:bb
    # via
    #   cliff
    #   oslo-db
ruff==0.17.6 \\
    --hash=sha256:cc
    # via -r test-requirements.txt
wcwidth==0.9.4 \\
    --hash=sha256:dd
    # via prettytable
"""


class TestLocked(base.TestCase):
    """A part of the constraints is whole, and no larger."""

    def test_names(self) -> None:
        text = '# why\noslo.db>=15.0.0 # Apache-2.0\n\nSQLAlchemy[x]>=2 ; python_version\n'
        self.assertEqual(['oslo-db', 'sqlalchemy'], locked.names(text))

    def test_what_it_depends_on_comes_with_it(self) -> None:
        found = locked.locked(CONSTRAINTS, ['oslo-db'])
        names = [name for name, _ in locked.entries(found)]
        self.assertEqual(['oslo-db', 'prettytable', 'wcwidth'], names)
        self.assertIn("prettytable==3.18.0 ; python_full_version >= '3.12' \\\n", found)
        self.assertIn('--hash=sha256:dd', found)

    def test_nothing_else_comes(self) -> None:
        names = [name for name, _ in locked.entries(locked.locked(CONSTRAINTS, ['ruff']))]
        self.assertEqual(['ruff'], names)

    def test_what_is_not_there_is_named(self) -> None:
        self.assertRaisesRegex(
            locked.NotLocked,
            'waitress is not in constraints.txt',
            locked.locked,
            CONSTRAINTS,
            ['waitress'],
        )
