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

"""Tests on a real cloud, for those who ask for them: ``OS_TEST_PATH=./tests/cloud``.

They need a cloud in which nobody works, and take minutes: whoever runs all
other tests does not run them by the way.
"""

from __future__ import annotations

import os
import pathlib
import unittest


def load_tests(
    loader: unittest.TestLoader, _tests: unittest.TestSuite, pattern: str | None
) -> unittest.TestSuite:
    """Return the tests of this package if it is what was asked for."""
    here = pathlib.Path(__file__).parent
    asked = os.environ.get('OS_TEST_PATH')
    if not asked or pathlib.Path(asked).resolve() != here:
        return loader.suiteClass()
    top = str(here.parent.parent)
    return loader.discover(str(here), pattern=pattern or 'test*.py', top_level_dir=top)
