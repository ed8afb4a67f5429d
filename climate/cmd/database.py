# SPDX-License-Identifier: Apache-2.0

"""Whether a process can work on the database, checked when the process starts."""

from __future__ import annotations

import logging

from climate import exceptions
from climate.db.administration import keys
from climate.db.migrations import current
from climate.db.transactions.store import Store

LOG = logging.getLogger(__name__)


def check(store: Store) -> None:
    """Refuse tables that were not upgraded, and secrets that this process cannot decrypt.

    A database that does not answer may do so later, so the process starts without it.

    :raises climate.exceptions.ConfigurationError: with what the operator must do
    """
    try:
        with store.answering() as engine:
            current.check(engine)
    except exceptions.DatabaseUnavailable as error:
        LOG.warning('The version of the tables is unknown: %s', error)
    keys.check(store)
