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

"""The completion of names, in bash."""

from __future__ import annotations

import os
import pathlib
import shlex
import subprocess

import fixtures

from tests import base
from tests.architecture import ROOT

SCRIPT = ROOT / 'climate/client/osc/completion.bash'
# Stands in for the command: it counts its calls, and answers with names.
OPENSTACK = r"""#!/bin/bash
echo "$*" >> "$CALLS"
case "$*" in
    *'lease list'*) printf '%s\n' demo 'demo day' lab ;;
    *'resource list'*) printf '%s\n' compute-1 compute-2 ;;
    *'type list'*) printf '%s\n' physical:host physical:storage network ;;
    *'property list --type physical:host'*) printf '%s\n' rack room gpu ;;
    *'property list --type custom:licence'*) printf '%s\n' vendor ;;
esac
"""


class CompletedNamesTest(base.TestCase):
    """An unfinished word becomes a name."""

    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.calls = folder / 'calls'
        (folder / 'openstack').write_text(OPENSTACK)
        (folder / 'openstack').chmod(0o755)
        self.environment = {
            'PATH': f'{folder}:{os.environ["PATH"]}',
            'XDG_CACHE_HOME': str(folder / 'cache'),
            'CALLS': str(self.calls),
        }
        self.cache = folder / 'cache/openstack-lease'

    def complete(self, *words: str, **environment: str) -> list[str]:
        script = (
            'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _openstack_lease; '
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ['bash', '-c', script, 'bash', str(SCRIPT), 'openstack', *words],
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual('', done.stderr)
        return done.stdout.split('\n')[:-1]

    def asked(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def test_names(self) -> None:
        for words, expected in (
            (('lease', 'show', 'la'), ['lab']),
            (('lease', 'show', 'de'), ['demo', r'demo\ day']),
            (('lease', 'show', "'de"), ['demo', 'demo day']),
            (('lease', 'delete', 'lab', 'dem'), ['demo', r'demo\ day']),
            (('--os-cloud', 'x', 'lease', 'end', 'l'), ['lab']),
            (('lease', 'reallocate', 'lab', 'comp'), ['compute-1', 'compute-2']),
            (('lease', 'feed', 'create', '--lease', 'la'), ['lab']),
            (('reservable', 'resource', 'set', 'compute-2'), ['compute-2']),
            (('maintenance', 'create', 'c'), ['compute-1', 'compute-2']),
            (('lease', 'list', '--type', 'net'), ['network']),
            # Bash has three words here.
            (('lease', 'list', '--type', 'physical', ':', 'st'), ['storage']),
            (('lease', 'availability', 'show', 'physical', ':'), ['host', 'storage']),
        ):
            self.assertEqual(expected, self.complete(*words), words)

    def test_properties_of_the_type(self) -> None:
        for words, expected in (
            (('lease', 'create', 'x', '--hosts', '2', '--where', 'r'), ['rack', 'room']),
            (('lease', 'create', 'x', '--where', "'gpu >= 2 and (ra"), ['gpu >= 2 and (rack']),
            (('lease', 'create', 'x', '--custom', 'licence=2', '--where', 'v'), ['vendor']),
            (('lease', 'offer', 'list', '--hosts', '2', '--same', 'g'), ['gpu']),
        ):
            self.assertEqual(expected, self.complete(*words), words)

    def test_answers_are_kept(self) -> None:
        for _ in range(2):
            self.complete('lease', 'show', 'la')
        self.assertEqual(['lease list --ended -c Name -f value'], self.asked())
        self.complete('lease', 'show', 'la', OS_PROJECT_NAME='other')
        self.assertEqual(2, len(self.asked()))
        self.assertEqual({0o600}, {each.stat().st_mode & 0o777 for each in self.cache.iterdir()})
        self.assertEqual(0o700, self.cache.stat().st_mode & 0o777)
        for _ in range(2):
            self.complete('lease', 'show', 'la', CLIMATE_COMPLETION_SECONDS='0')
        self.assertEqual(4, len(self.asked()))

    def test_other_words_are_left_to_the_completion_of_openstack(self) -> None:
        for words in (('server', 'show', 'x'), ('lease', 'show', '--h'), ('lease', 'sh')):
            self.assertEqual([''], self.complete(*words))
        self.assertEqual([], self.asked())

    def test_the_commands_that_it_calls_exist(self) -> None:
        entry_points = (ROOT / 'setup.cfg').read_text()
        for line in SCRIPT.read_text().splitlines():
            _, mark, call = line.partition('"${globals[@]}" -- ')
            if mark and not call.startswith('"'):
                words = shlex.split(call.rstrip(' \\'))
                options = next(at for at, word in enumerate([*words, '-']) if word[0] == '-')
                self.assertIn(f'{"_".join(words[:options])} = ', entry_points)
