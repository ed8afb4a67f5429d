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
