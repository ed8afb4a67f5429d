# SPDX-License-Identifier: Apache-2.0

"""The ports of a cloud: one range from a base.

Clouds whose ranges do not overlap are independent.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from collections.abc import Mapping

from tools.cloud.errors import CloudError

HOST = '127.0.0.1'
DEFAULT_BASE = 15000
AUTO = 'auto'

# The offset of each port from the base. RabbitMQ needs "rabbit-cluster" for connections
# between its nodes, which find that port through epmd.
OFFSETS = {
    'keystone': 0,
    'placement': 1,
    'glance': 2,
    'nova-api': 3,
    'neutron': 4,
    'cinder-api': 5,
    'heat-api': 6,
    'climate-api': 7,
    'proxy': 8,
    'mariadb': 9,
    'rabbit': 10,
    'rabbit-cluster': 11,
    'epmd': 12,
    'memcached': 13,
    'climate-api@2': 14,
    'climate-api@3': 15,
}
STEP = 20
_HIGHEST = 32000  # the ephemeral ports of the kernel begin above


def table(base: int) -> dict[str, int]:
    """Return the port of each service of a cloud whose range begins at *base*.

    :raises CloudError: if there is no room for the range
    """
    if not 1024 <= base <= 65535 - STEP:
        raise CloudError(f'PORTS must be between 1024 and {65535 - STEP}, got {base}')
    return {name: base + offset for name, offset in OFFSETS.items()}


def taken(port: int) -> bool:
    """Whether a process listens on *port* of this machine."""
    with socket.socket() as probe:
        # Closed connections in TIME_WAIT do not count as taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return True
    return False


def answers(host: str, port: int, seconds: float = 2.0) -> bool:
    """Whether a server accepts connections at *host* and *port*."""
    try:
        socket.create_connection((host, port), timeout=seconds).close()
    except OSError:
        return False
    return True


def refuse_taken(wanted: Mapping[str, int], is_taken: Callable[[int], bool] = taken) -> None:
    """Check that all *wanted* ports are free.

    :param wanted: ports, by the names of their services
    :raises CloudError: if one is not, with the port and what to do
    """
    for name, port in wanted.items():
        if is_taken(port):
            raise CloudError(
                f'port {port}, which {name} needs, is in use by another process: '
                f'PORTS={port - OFFSETS[name] + 1000} uses other ports, '
                f'PORTS={AUTO} looks for a free range'
            )


def free_base(is_taken: Callable[[int], bool] = taken) -> int:
    """Return the first base, starting with the default, whose whole range is free.

    :raises CloudError: if there is none
    """
    for base in range(DEFAULT_BASE, _HIGHEST, STEP):
        if not any(is_taken(port) for port in table(base).values()):
            return base
    raise CloudError(f'no {STEP} consecutive ports are free from {DEFAULT_BASE} to {_HIGHEST}')


def chosen(requested: str | None, last: int | None) -> int:
    """Return the base to use.

    :param requested: a number, ``auto``, or None for the last base or the default
    :param last: the base of the same cloud when it was last up; None if it never was
    :raises CloudError: if the request is not a number, or not the base of the endpoints
        in the databases of the cloud
    """
    if requested in (None, ''):
        return DEFAULT_BASE if last is None else last
    if requested == AUTO:
        return free_base() if last is None else last
    try:
        base = int(requested or '')
    except ValueError:
        raise CloudError(f'PORTS must be a number or {AUTO}, got {requested}') from None
    if last is not None and base != last:
        raise CloudError(
            f'PORTS={base}: this cloud and its catalog use PORTS={last}; '
            f'keep that, or delete its data first (make cloud-down WIPE=1)'
        )
    table(base)
    return base
