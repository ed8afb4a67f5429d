# SPDX-License-Identifier: Apache-2.0

"""The completion of names, in bash."""

from __future__ import annotations

import os
import pathlib
import shlex

import fixtures

from tests import base
from tests import commands
from tests.architecture import ROOT

SCRIPT = ROOT / 'climate/client/osc/completion.bash'
NOTHING_KEPT = {'CLIMATE_COMPLETION_SECONDS': '0'}
# Stands in for the command: it counts its calls, and answers with names.
OPENSTACK = r"""#!/bin/bash
echo "$*" >> "$CALLS"
case "$*" in
    *'lease list'*) printf '%s\n' demo 'demo day' lab; cat "$OTHERS" 2>/dev/null ;;
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
            'OTHERS': str(folder / 'others'),
        }
        self.others = folder / 'others'
        self.cache = folder / 'cache/openstack-lease'

    def complete(self, *words: str, before: str = '', **environment: str) -> list[str]:
        script = (
            f'{before} source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            '_openstack_lease; '
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = commands.captured(
            ['bash', '-c', script, 'bash', str(SCRIPT), 'openstack', *words],
            env={**self.environment, **environment},
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
        kept = set(self.cache.iterdir())
        for _ in range(2):
            self.assertEqual(['lab'], self.complete('lease', 'show', 'la', **NOTHING_KEPT))
        self.assertEqual(4, len(self.asked()))
        self.assertEqual(kept, set(self.cache.iterdir()))
        for each in kept:
            each.unlink()
        self.complete('lease', 'show', 'la', **NOTHING_KEPT)
        self.assertEqual([], list(self.cache.iterdir()))

    def test_names_of_others_run_nothing(self) -> None:
        """All members of a project choose names of its leases."""
        names = (
            "x'; touch ran #",
            'x"; touch ran; "',
            'x$(touch ran)`touch ran`',
            'x\\"; touch ran; \\',
            'x!!$HOME \\\' !"',
            'x;touch ran',
            'x\\',
        )
        for name in names:
            self.others.write_text(f'{name}\n')
            for quote in ('', "'", '"'):
                (found,) = self.complete('lease', 'show', f'{quote}x', **NOTHING_KEPT)
                done = commands.captured(
                    ['bash', '-c', f'set +H; printf "%s\\n" {quote}{found}{quote}'],
                    cwd=self.others.parent,
                    check=True,
                )
                self.assertEqual(f'{name}\n', done.stdout, found)
        self.assertFalse((self.others.parent / 'ran').exists())
        # An option.
        self.others.write_text('--os-auth-url=https://evil.example\n')
        actual = self.complete('lease', 'show', '', **NOTHING_KEPT)
        self.assertEqual(['demo', r'demo\ day', 'lab'], actual)

    def test_other_words_are_left_to_the_completion_of_openstack(self) -> None:
        for words in (('server', 'show', 'x'), ('lease', 'show', '--h'), ('lease', 'sh')):
            self.assertEqual([''], self.complete(*words))
        self.assertEqual([], self.asked())

    def test_the_completion_of_openstack_without_its_package(self) -> None:
        before = (
            '_openstack() { local cur prev words; _get_comp_words_by_ref -n : cur prev words; '
            'COMPREPLY=("$prev" "$cur" "${#words[@]}" "$1"); };'
        )
        found = self.complete('lease', 'sh', before=before)
        self.assertEqual(['lease', 'sh', '3', ''], found)
        package = '_get_comp_words_by_ref() { cur=theirs; };'
        found = self.complete('lease', 'sh', before=before + package)
        self.assertEqual(['', 'theirs', '0', ''], found)

    def test_the_commands_that_it_calls_exist(self) -> None:
        entry_points = (ROOT / 'setup.cfg').read_text()
        for line in SCRIPT.read_text().splitlines():
            _, mark, call = line.partition('"${globals[@]}" -- ')
            if mark and not call.startswith('"'):
                words = shlex.split(call.rstrip(' \\'))
                options = next(at for at, word in enumerate([*words, '-']) if word[0] == '-')
                self.assertIn(f'{"_".join(words[:options])} = ', entry_points)
