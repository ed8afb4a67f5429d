# SPDX-License-Identifier: Apache-2.0

"""Bodies of requests that many tests send."""

from __future__ import annotations

from typing import Any


def lease(name: str, start: str, end: str, *reservations: Any) -> dict[str, Any]:
    """Return the body that asks for a lease."""
    dates = {'start_date': start, 'end_date': end}
    return {'name': name, **dates, 'reservations': list(reservations)}


def hosts(least: int = 1, most: int | None = None, **facts: Any) -> dict[str, Any]:
    """Return a reservation of so many hosts.

    :param most: *least* if None
    """
    most = least if most is None else most
    return {'resource_type': 'physical:host', 'min': least, 'max': most, **facts}


def instances(**facts: Any) -> dict[str, Any]:
    """Return a reservation of instances."""
    return {'resource_type': 'virtual:instance', **facts}


def maintenance(host: str, start: str, end: str) -> dict[str, Any]:
    """Return the body that announces the maintenance of a host."""
    resource = {'resource_type': 'physical:host', 'resource_name': host}
    return {**resource, 'start_date': start, 'end_date': end}
