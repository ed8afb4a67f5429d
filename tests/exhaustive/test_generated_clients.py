# SPDX-License-Identifier: Apache-2.0

"""What generators make of the OpenAPI document has every operation, and works.

The generators are installed in the versions of ``generators/``, and the commands are those of
the page on OpenAPI.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request

from tests import services
from tests.architecture import ROOT
from tests.base import FolderCase
from tests.functional.processes import Standalone
from tests.printed import blocks
from tests.printed.commands import Command
from tests.printed.commands import likeness
from tests.printed.commands import read_commands

PAGE = ROOT / 'doc' / 'source' / 'reference' / 'openapi.rst'
GENERATORS = pathlib.Path(__file__).with_name('generators')
PRINTED = 'http://127.0.0.1:1234/v1'
MARK = str(pathlib.Path(__file__).relative_to(ROOT))
OPERATIONS = re.compile(r'operations\["(\w+)"\]')
METHODS = frozenset({'get', 'post', 'put', 'patch', 'delete'})
# Has each module loaded, and prints those of operations.
LOAD = """
import importlib, pkgutil
import climate_client
for module in pkgutil.walk_packages(climate_client.__path__, 'climate_client.'):
    importlib.import_module(module.name)
    _, _, below = module.name.partition('.api.')
    if '.' in below:
        print(below.rpartition('.')[2])
"""


class GeneratedClientsTest(FolderCase):
    """A running service, and a folder of a developer."""

    def setUp(self) -> None:
        super().setUp()
        service = Standalone()
        self.useFixture(service)
        self.endpoint = service.endpoint
        with urllib.request.urlopen(f'{self.endpoint}/openapi.json', timeout=60) as answer:
            document = json.load(answer)
        self.operations = sorted(
            item[method]['operationId']
            for item in document['paths'].values()
            for method in METHODS & set(item)
        )
        self.assertGreater(len(self.operations), 50)

    def run_here(self, *argv: str, **more: str) -> str:
        """Run a command in the folder, where its programs come first; return what it prints."""
        own = f'{self.folder}/venv/bin:{self.folder}/node_modules/.bin'
        done = subprocess.run(
            argv,
            cwd=self.folder,
            env={**os.environ, 'PATH': f'{own}:{os.environ["PATH"]}', **more},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        self.assertEqual(0, done.returncode, f'{argv}\n{done.stdout}{done.stderr}')
        return done.stdout

    def here(self, text: str) -> str:
        """Return what the page prints with the address of this service."""
        self.assertIn(PRINTED, text)
        return text.replace(PRINTED, self.endpoint)

    def commands(self) -> dict[str, Command]:
        """Return the commands of the page by their programs, and write its files."""
        found = [one for one in blocks.read_page(PAGE) if one.mark and one.mark.what == MARK]
        for block in found:
            if block.caption:
                (self.folder / block.caption).write_text(self.here(block.text))
        printed = (one for block in found if not block.caption for one in read_commands(block.text))
        return {one.text.removeprefix('npx ').split()[0]: one for one in printed}

    def test_python(self) -> None:
        self.run_here(sys.executable, '-m', 'venv', '--without-pip', 'venv')
        pip = (sys.executable, '-m', 'pip', '--python', 'venv/bin/python', '--quiet')
        locked = ('--require-hashes', '--no-compile', '-r', str(GENERATORS / 'requirements.txt'))
        self.run_here(*pip, 'install', *locked)
        commands = self.commands()
        self.run_here('sh', '-c', self.here(commands['openapi-python-client'].text))
        loaded = self.run_here('python', '-c', LOAD, PYTHONWARNINGS='error').split()
        self.assertEqual(self.operations, sorted(loaded))
        book = commands['python']
        said = self.run_here('sh', '-c', book.text, PYTHONWARNINGS='error')
        self.assertIsNone(likeness(book.output, said), said)

    def test_typescript(self) -> None:
        if shutil.which('npm') is None:
            services.missing('openapi-typescript is installed by npm')
        for name in ('package.json', 'package-lock.json'):
            shutil.copyfile(GENERATORS / name, self.folder / name)
        self.run_here('npm', 'ci', '--no-audit', '--no-fund')
        self.run_here('sh', '-c', self.here(self.commands()['openapi-typescript'].text))
        self.run_here('npx', 'tsc', '--noEmit', '--strict', 'climate.d.ts')
        types = (self.folder / 'climate.d.ts').read_text(encoding='utf-8')
        self.assertEqual(self.operations, sorted(OPERATIONS.findall(types)))
