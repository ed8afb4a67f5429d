# SPDX-License-Identifier: Apache-2.0
"""Finds the test cloud for tests that need one."""

from __future__ import annotations

import os
import unittest

from tools.cloud import state
from tools.cloud.errors import CloudError
from tools.cloud.state import Cloud


def find_cloud() -> Cloud:
    """Return the test cloud.

    :raises unittest.SkipTest: if there is none
    :raises AssertionError: if there is none, and CLIMATE_REQUIRE_SERVICES is 1
    """
    try:
        return state.load()
    except CloudError as error:
        if os.environ.get('CLIMATE_REQUIRE_SERVICES') == '1':
            raise AssertionError(str(error)) from None
        raise unittest.SkipTest(str(error)) from None
