# SPDX-License-Identifier: Apache-2.0

"""Validates ``[database] connection``, and chooses a driver if it names none."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Final

import sqlalchemy as sa
from sqlalchemy import exc as sa_exception

from climate import exceptions

# A URL without a driver means the first of these that is installed.
_DRIVERS: Final = {
    'mysql': ('pymysql',),
    'mariadb': ('pymysql',),
    'postgresql': ('psycopg', 'psycopg2'),
}
_EXTRAS: Final = {'mysql': 'mysql', 'mariadb': 'mysql', 'postgresql': 'postgresql'}
_CHARACTER_SETS: Final = {
    'mysql': {'charset': 'utf8mb4'},
    'mariadb': {'charset': 'utf8mb4'},
    'postgresql': {'client_encoding': 'utf8'},
}
_OPTION: Final = '[database] connection'


def of_file(path: pathlib.Path | str) -> str:
    """Return the URL of an SQLite database in a file, whatever characters its path has."""
    return sa.URL.create('sqlite', database=str(path)).render_as_string(hide_password=False)


def usable(connection: str | None) -> str:
    """Return the URL of the database, with the name of its driver.

    :raises climate.exceptions.ConfigurationError: if there is none, it is not a URL,
        or its driver is not installed; the message does not contain the password
    """
    if not connection:
        raise exceptions.ConfigurationError(
            f'{_OPTION} is not set in any file that was read (--config-file names one)'
        )
    try:
        url = sa.make_url(connection)
    except sa_exception.ArgumentError:
        # SQLAlchemy's own message contains the URL, and with it the password.
        raise exceptions.ConfigurationError(f'{_OPTION} is not a database URL') from None
    backend, dot, driver = url.drivername.partition('+')
    if not dot:
        known = _DRIVERS.get(backend, ())
        driver = next((name for name in known if importlib.util.find_spec(name)), '')
        url = url.set(drivername=f'{backend}+{driver or known[0]}' if known else backend)
    try:
        url.get_dialect().import_dbapi()
    except (ImportError, sa_exception.NoSuchModuleError) as error:
        raise exceptions.ConfigurationError(
            f'{_OPTION}: {_missing(backend, url.drivername)}'
        ) from error
    return _in_unicode(url, backend).render_as_string(hide_password=False)


def _in_unicode(url: sa.URL, backend: str) -> sa.URL:
    """Return a URL with Climate's own character set.

    The default of oslo.db for MariaDB has no characters beyond the first 65,536, and the URL
    may have an even smaller one, in which texts cannot be compared with those of the tables.
    """
    return url.update_query_dict(_CHARACTER_SETS.get(backend, {}))


def password(connection: str) -> str | None:
    """Return the password in a URL that :func:`usable` has returned."""
    secret = sa.make_url(connection).password
    return None if secret is None else str(secret)


def _missing(backend: str, drivername: str) -> str:
    if backend not in _EXTRAS and backend != 'sqlite':
        return f'{backend} is not supported'
    _, _, driver = drivername.partition('+')
    extra = _EXTRAS.get(backend)
    hint = f"; install one with: pip install 'openstack-climate[{extra}]'" if extra else ''
    return f'the driver {driver or backend} is not installed{hint}'
