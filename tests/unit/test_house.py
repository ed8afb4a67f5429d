# SPDX-License-Identifier: Apache-2.0

"""The package says what it has, and has what it says."""

from __future__ import annotations

import configparser
import importlib
import importlib.metadata
import importlib.util
import re
import shutil
import stat

from tests import base
from tests.architecture import ROOT
from tests.commands import captured


def _entry_points() -> dict[str, dict[str, str]]:
    """Return name and target of each entry point of setup.cfg, by group."""
    config = configparser.ConfigParser()
    config.read(ROOT / 'setup.cfg')
    return {
        group: dict(
            (part.strip() for part in line.split('=')) for line in lines.splitlines() if line
        )
        for group, lines in config['entry_points'].items()
    }


class TestEntryPoints(base.TestCase):
    """What setup.cfg names is there, and is installed as it says."""

    def test_each_leads_somewhere(self) -> None:
        for group, entries in _entry_points().items():
            for name, target in entries.items():
                module, _, attribute = target.partition(':')
                if group == 'heat.clients' and not importlib.util.find_spec('heat'):
                    # Heat is only where heat-engine runs.
                    text = (ROOT / f'{module.replace(".", "/")}.py').read_text(encoding='utf-8')
                    self.assertIn(f'\nclass {attribute}(', text)
                    continue
                found: object = importlib.import_module(module)
                # A plugin of openstackclient is a module.
                if attribute:
                    found = getattr(found, attribute, None)
                    self.assertTrue(callable(found), f'{group}: {name} = {target}')

    def test_installed(self) -> None:
        # An installation from before a command was added has not got it:
        # tests would then try something else than what is written here.
        installed = {
            (entry.group, entry.name, entry.value)
            for entry in importlib.metadata.distribution('openstack-climate').entry_points
        }
        declared = {
            (group, name, target)
            for group, entries in _entry_points().items()
            for name, target in entries.items()
        }
        self.assertEqual(declared, installed, 'run "pip install --editable ." again')

    def test_each_command_has_a_page(self) -> None:
        pages = {page.stem for page in (ROOT / 'doc' / 'source' / 'cli').glob('*.rst')}
        # A tool for tests and demos, run as a module: python -m climate.simulator. And the
        # commands that the package adds to another program.
        commands = {*_entry_points()['console_scripts'], 'climate-simulator', 'openstack'}
        self.assertEqual(commands, pages - {'index'})


class TestMakefile(base.TestCase):
    """What can be made explains itself."""

    def test_each_target_is_explained(self) -> None:
        text = (ROOT / 'Makefile').read_text(encoding='utf-8')
        named = set(re.findall(r'^\.PHONY: (\S+)$', text, re.MULTILINE))
        self.assertEqual(named, set(re.findall(r'^([a-z-]+):.*## \S', text, re.MULTILINE)))
        self.assertLessEqual({'help', 'run', 'demo', 'test'}, named)

    def test_recipes_are_shell(self) -> None:
        make = shutil.which('make')
        assert make is not None, 'make is not installed'
        for constraints in ('constraints.txt', ''):
            # -B: also what is installed already.
            recipes = captured(
                [make, '-n', '-B', 'docs', 'lint', 'run', f'CONSTRAINTS={constraints}'],
                cwd=ROOT,
                check=True,
            ).stdout
            self.assertIn('climate-standalone', recipes)
            parsed = captured(['/bin/sh', '-n'], input=recipes)
            self.assertEqual((0, ''), (parsed.returncode, parsed.stderr))

    def test_check_can_be_started(self) -> None:
        self.assertTrue((ROOT / '.ci' / 'run').stat().st_mode & stat.S_IXUSR)
