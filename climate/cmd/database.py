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

"""Whether a process can work on the database, checked when the process starts."""

from __future__ import annotations

import logging

from climate import exceptions
from climate.db import keys
from climate.db import migration
from climate.db.store import Store

LOG = logging.getLogger(__name__)


def check(store: Store) -> None:
    """Refuse tables that were not upgraded, and secrets that this process cannot decrypt.

    A database that does not answer may do so later, so the process starts without it.

    :raises climate.exceptions.ConfigurationError: with what the operator must do
    """
    try:
        with store.answering() as engine:
            migration.check_current(engine)
    except exceptions.DatabaseUnavailable as error:
        LOG.warning('The version of the tables is unknown: %s', error)
    keys.check(store)
