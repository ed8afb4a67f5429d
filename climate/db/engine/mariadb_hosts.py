# SPDX-License-Identifier: Apache-2.0

"""Several servers of MariaDB in one URL, as PostgreSQL's own library has it.

``mysql+pymysql://climate:PASSWORD@/climate?host=db1:3306&host=db2:3306``
"""

from __future__ import annotations

import logging
import urllib.parse
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa
from sqlalchemy import event

from climate.db.engine import read_only

LOG = logging.getLogger(__name__)

# In seconds; a server that is frozen accepts connections, but does not respond.
_PATIENCE: Final = 5


class HostAddresses:
    """Chooses the first of some servers that can be written to.

    If none can, it chooses one that can be read. The server that was chosen last comes first:
    the others may take seconds to fail.
    """

    def __init__(self) -> None:
        self._last: str | None = None

    def set_up(self, engine: sa.Engine) -> None:
        """Choose the server of each new connection of an engine, if its URL has several.

        Call it before other listeners connect.
        """
        event.listen(engine, 'do_connect', self._choose)

    def _choose(self, dialect: Any, _record: Any, args: Sequence[Any], params: Any) -> None:
        hosts = params.get('host')
        if isinstance(hosts, str) and ':' in hosts:
            hosts = [hosts]
        if hosts is not None and not isinstance(hosts, str):
            self._last = self._first(dialect, hosts, args, params)
            params.update(_address(self._last))

    def _first(self, dialect: Any, hosts: Sequence[str], args: Sequence[Any], params: Any) -> str:
        """Return the best server; the first one if all fail, whose error is then raised."""
        readable = None
        for host in self._in_order(hosts):
            own = {**params, **_address(host)}
            own |= {'read_timeout': _PATIENCE, 'write_timeout': _PATIENCE}
            try:
                connection = dialect.connect(*args, **own)
                writes = not read_only.is_read_only(dialect, connection)
                connection.close()
            except dialect.loaded_dbapi.Error as error:
                LOG.debug('The database server %s does not answer: %s', host, error)
                continue
            if writes:
                return host
            readable = readable or host
        return readable or hosts[0]

    def _in_order(self, hosts: Sequence[str]) -> Iterator[str]:
        last = self._last
        if last in hosts:
            yield str(last)
        yield from (host for host in hosts if host != last)


def _address(host: str) -> dict[str, Any]:
    parts = urllib.parse.urlsplit(f'//{host}')
    port = {} if parts.port is None else {'port': parts.port}
    return {'host': parts.hostname, **port}
