# SPDX-License-Identifier: Apache-2.0

"""What the page "A new field" says: an option of a lease is a change of six Python files.

The field is added to a copy of the tree, whose own tests must then pass.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import sys

import fixtures

from tests import base
from tests import commands
from tests.architecture import ROOT

MOST_FILES = 6
PATIENCE = 600
STORY = """\
fixtures:
  - ServiceFixture

defaults:
  request_headers:
    content-type: application/json
    openstack-api-version: reservation 1.8
    x-auth-token: alice:blue:member

tests:
  - name: a lease has a note
    POST: /v1/leases
    data:
      name: a
      start_date: "2030-01-01T13:00:00Z"
      duration: 3h
      note: for the demo
    status: 201
    response_json_paths:
      $.lease.note: for the demo

  - name: it is kept
    GET: /v1/leases/$HISTORY['a lease has a note'].$RESPONSE['$.lease.id']
    response_json_paths:
      $.lease.note: for the demo

  - name: lists can have it alone
    GET: /v1/leases?fields=note
    response_json_paths:
      $.leases: [{note: for the demo}]

  - name: version 1.7 does not show it
    GET: /v1/leases?fields=note
    request_headers:
      openstack-api-version: reservation 1.7
    status: 400

  - name: nor does it take it
    POST: /v1/leases
    request_headers:
      openstack-api-version: reservation 1.7
    data: {name: b, start_date: "2030-01-01T13:00:00Z", duration: 3h, note: for the demo}
    status: 400

  - name: it is a text
    POST: /v1/leases
    data: {name: b, start_date: "2030-01-01T13:00:00Z", duration: 3h, note: 7}
    status: 400
    response_strings:
      - note
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Edit:
    """Lines that are added after an anchor, which is in the file once."""

    path: str
    after: str
    lines: str


EDITS = (
    Edit(
        path='climate/domain/leases.py',
        after='    end_reason: str | None = None\n',
        lines='    note: str | None = None\n',
    ),
    Edit(path='climate/domain/leases.py', after="    'end_reason',\n", lines="    'note',\n"),
    Edit(
        path='climate/domain/requests.py',
        after='    notices: tuple[str, ...] | None = None\n',
        lines='    note: str | None = None\n',
    ),
    Edit(
        path='climate/booking/requests/new_leases.py',
        after='        notices=draft.notices,\n',
        lines='        note=draft.note,\n',
    ),
    Edit(
        path='climate/api/schemas/leases.py',
        after="        'start_date': _TEXT_OR_NULL,\n        'notices': _NOTICES_1_8,\n",
        lines="        'note': _TEXT_OR_NULL,\n",
    ),
    Edit(
        path='climate/api/schemas/leases.py',
        after='            notices=None if notices is requests.UNSET else notices,\n',
        lines="            note=body.get('note') if self._version >= V1_8 else None,\n",
    ),
    Edit(
        path='climate/api/views/leases.py',
        after="name='project_name', since=V1_7, write='json', schema=or_null(TEXT)),\n",
        lines="    AnswerField(name='note', since=V1_8, write='json', schema=or_null(TEXT)),\n",
    ),
    Edit(
        path='climate/client/sdk/leases.py',
        after="    'end_reason': '1.5',\n",
        lines="    'note': '1.8',\n",
    ),
    Edit(
        path='climate/client/sdk/leases.py',
        after="    end_reason = resource.Body('end_reason')\n",
        lines="    #: What its owner notes.\n    note = resource.Body('note')\n",
    ),
    Edit(
        path='api-ref/source/leases.rst',
        after='   - end_reason: end_reason\n',
        lines='   - note: end_reason\n',
    ),
)


class TestNewField(base.TestCase):
    """A field of a lease that clients give and see."""

    def setUp(self) -> None:
        super().setUp()
        self.tree = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'tree'
        listed = commands.captured(['git', 'ls-files', '-z'], cwd=ROOT, check=True)
        for name in filter(None, listed.stdout.split('\0')):
            target = self.tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)
        self.edited: set[str] = set()

    def edit(self, one: Edit) -> None:
        file = self.tree / one.path
        text = file.read_text(encoding='utf-8')
        self.assertEqual(1, text.count(one.after), one)
        file.write_text(text.replace(one.after, one.after + one.lines), encoding='utf-8')
        self.edited.add(one.path)

    def run_tests(self, *names: str) -> None:
        done = commands.captured(
            [sys.executable, '-m', 'testtools.run', *names],
            cwd=self.tree,
            env={**os.environ, 'PYTHONPATH': str(self.tree)},
            timeout=PATIENCE,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn('\nOK', done.stdout)

    def test_an_option_of_a_lease(self) -> None:
        for one in EDITS:
            self.edit(one)
        edited = len([path for path in self.edited if path.endswith('.py')])
        self.assertLessEqual(edited, MOST_FILES)
        stories = self.tree / 'tests' / 'functional' / 'gabbits'
        for file in stories.glob('*.yaml'):
            if file.name != 'leases-1.7.yaml':
                file.unlink()
        (stories / 'notes.yaml').write_text(STORY, encoding='utf-8')
        self.run_tests(
            'tests.unit.client.test_lease_fields',
            'tests.functional.db.test_lease_lists.TestSqlite',
            'tests.functional.test_gabbits',
        )
