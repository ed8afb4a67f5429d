# SPDX-License-Identifier: Apache-2.0

"""The database of a test, in its configuration."""

from __future__ import annotations

from typing import Final

from oslo_config import cfg

# On a busy machine a test may have to wait this long for its next statement, in seconds.
_PATIENCE: Final = 120


def use(conf: cfg.ConfigOpts, url: str) -> None:
    """Configure the database at *url*; its server waits longer than that of a service."""
    conf.set_override('connection', url, group='database')
    conf.set_override('idle_transaction_timeout', _PATIENCE, group='database')
