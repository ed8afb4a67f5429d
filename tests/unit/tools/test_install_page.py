# SPDX-License-Identifier: Apache-2.0

"""The page on installing says what the tool for clouds does."""

from __future__ import annotations

import re
import textwrap

from tests.architecture import ROOT
from tests.unit.tools import clouds
from tools.cloud import config
from tools.cloud import deploy
from tools.cloud import services

_PAGE = (ROOT / 'doc' / 'source' / 'install' / 'cloud.rst').read_text(encoding='utf-8')
_KEYSTONE = 'http://controller:5000/v3'


def _blocks(language: str) -> list[str]:
    """Return the code blocks of the page in a language, without their indentation."""
    found = re.findall(
        rf'^( *)\.\. code-block:: {language}\n\n((?:\1   .*\n|\n)+)', _PAGE, re.MULTILINE
    )
    return [textwrap.dedent(block).strip() + '\n' for _, block in found]


class InstallPageTest(clouds.CloudTestCase):
    """Whoever changes one has to change the other."""

    def test_configuration(self) -> None:
        rendered = config.render(
            'climate.conf',
            {
                'transport_url': 'rabbit://climate:secret@controller:5672/',
                'climate_database': 'mysql+pymysql://climate:secret@controller:3306/climate'
                '?charset=utf8mb4',
                'auth_url': _KEYSTONE,
                'climate_login': config.login(_KEYSTONE, 'climate', 'secret', 'RegionOne'),
                'memcached': 'controller:11211',
                'region': 'RegionOne',
            },
        )
        self.assertIn(rendered, _blocks('ini'))

    def test_scheduler(self) -> None:
        used = (config.TEMPLATES / 'nova.conf').read_text(encoding='utf-8')
        (section,) = [block for block in _blocks('ini') if block.startswith('[filter_scheduler]')]
        self.assertIn(section.strip(), used)

    def test_gunicorn(self) -> None:
        argv = services.command(self.cloud, 'climate-api').argv
        used = {word for word in argv[1:] if not word.startswith(('--bind', '--chdir'))}
        (line,) = [line for line in _PAGE.splitlines() if '/bin/gunicorn ' in line]
        words = line.partition('/bin/gunicorn ')[2].split()
        self.assertEqual(used, {word for word in words if not word.startswith('--bind')})

    def test_packages(self) -> None:
        for package in deploy.WITH:
            self.assertIn(package.partition('==')[0], _PAGE)
