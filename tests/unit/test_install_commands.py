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
                found = BY_NAME.search(path.read_text(encoding='utf-8'))
                self.assertIsNone(found, path.name)
