# SPDX-License-Identifier: Apache-2.0

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
