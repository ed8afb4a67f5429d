# SPDX-License-Identifier: Apache-2.0

"""What is printed installs this package, not one that has its name somewhere."""

from __future__ import annotations

import re

from tests import base
from tests.architecture import ROOT

BY_NAME = re.compile(r'pip\s+install\s[^\n`]*openstack-climate|climate_package[:=] *openstack')


class InstallCommandsTest(base.TestCase):
    """As long as no index has the package, its name there may be any author's."""

    def test_no_page_installs_by_name(self) -> None:
        pages = [path for name in ('doc/source', 'deploy') for path in (ROOT / name).rglob('*')]
        self.assertGreater(len(pages), 50)
        for path in pages:
            if path.suffix in ('.rst', '.yaml', '.sample'):
                self.assertIsNone(BY_NAME.search(path.read_text(encoding='utf-8')), path.name)
