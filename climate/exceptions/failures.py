# SPDX-License-Identifier: Apache-2.0

"""Logs failures after which work goes on."""

from __future__ import annotations

import logging
from typing import Any

from climate.exceptions.outages import DatabaseUnavailable


def log_failure(log: logging.Logger, error: BaseException, message: str, *args: Any) -> None:
    """Log a failure, with a traceback unless the database is the cause.

    An outage of the database makes all kinds of work fail, which a line each says as well.
    """
    if isinstance(error, DatabaseUnavailable):
        log.warning(f'{message}: %s', *args, error.message)
        log.debug(message, *args, exc_info=error)
    else:
        log.error(message, *args, exc_info=error)
