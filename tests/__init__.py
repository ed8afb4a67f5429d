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
"""Tests.

``CLIMATE_TEST_BATCHES`` replaces the default of ``[manager] batches``: with ``true``, managers
of all tests that do not say otherwise process leases in batches, with ``false``, one by one.
"""

from __future__ import annotations

import os
from typing import Final

from oslo_config import cfg

from climate.conf import manager

BATCHES: Final = os.environ.get('CLIMATE_TEST_BATCHES')
"""The value of ``CLIMATE_TEST_BATCHES``; None to test the default."""

if BATCHES is not None:
    # Before :mod:`climate.conf.settings` reads the defaults.
    cfg.set_defaults(manager.OPTS, batches=cfg.types.Boolean()(BATCHES))
