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

"""What drivers say of a database that cannot be used, in the words of the service."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from oslo_db import exception as oslo_exception
from sqlalchemy import exc as sa_exception

from climate import exceptions


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn what a database that is away makes its driver say into an error of the service.

    :raises climate.exceptions.DatabaseUnavailable: if it does not answer
    """
    try:
        yield
    except (
        oslo_exception.DBConnectionError,
        sa_exception.TimeoutError,
        # The very first connection is made before oslo.db can translate.
        sa_exception.InterfaceError,
        sa_exception.OperationalError,
    ) as error:
        raise exceptions.DatabaseUnavailable from error
    except oslo_exception.DBNonExistentDatabase as error:
        raise exceptions.DatabaseUnavailable('There is no such database') from error
    except oslo_exception.DBDeadlock as error:
        raise exceptions.DatabaseUnavailable(
            'The database is too busy, please try again'
        ) from error
    except oslo_exception.DBError as error:
        if _has_no_table(error):
            raise exceptions.DatabaseUnavailable(
                'The database has no tables, or old ones: run climate-manage db sync'
            ) from error
        if _is_away(error):
            raise exceptions.DatabaseUnavailable from error
        raise


# Answers of a server that is starting, stopping or full, and SQLite's word for
# a writer that waited its whole time. oslo.db has no class of its own for them.
_AWAY = (
    'database is locked',
    'the database system is',
    'too many connections',
    'too many clients',
    'terminating connection',
    'server closed the connection',
    'lost connection',
)


def _has_no_table(error: oslo_exception.DBError) -> bool:
    # oslo.db does not know how PostgreSQL says it.
    return isinstance(error, oslo_exception.DBNonExistentTable) or (
        'relation "' in str(error) and 'does not exist' in str(error)
    )


def _is_away(error: Exception) -> bool:
    text = str(error).lower()
    return any(words in text for words in _AWAY)
