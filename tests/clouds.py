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
