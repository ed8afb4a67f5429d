# SPDX-License-Identifier: Apache-2.0

"""The ids of objects in paths, and in the bodies that repeat them."""

from __future__ import annotations

import re
from typing import Final

from climate import exceptions
from climate.api.http import bodies

WITH_SLASHES: Final = frozenset({'property_name'})
"""The names of ids that take the whole rest of a path: properties may have slashes."""

NAMES: Final = frozenset({'property_name', 'type_name'})
UUIDS: Final = frozenset({'feed_id', 'lease_id', 'maintenance_id', 'offer_id', 'webhook_id'})
_UUID = re.compile(r'[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}')
_RESOURCE_ID = re.compile(r'[0-9]{1,10}', re.ASCII)
_LARGEST_RESOURCE_ID = 2**31 - 1


def read(word: str, text: str) -> str | int:
    """Return an id in a path as it is stored: a UUID, a name, or the number of a resource.

    :param word: its name in the path of the route, such as ``lease_id`` or ``host_id``
    :raises climate.exceptions.NotFound: if no object can have it
    """
    if word in UUIDS:
        return uuid(word, text)
    return text if word in NAMES else resource_id(word, text)


def uuid(word: str, text: str) -> str:
    """Return the id of a lease or a maintenance as it is stored.

    :param word: name of the id in the error message, such as ``lease_id``
    :raises climate.exceptions.NotFound: if it is not a UUID
    """
    if _UUID.fullmatch(text) is None:
        raise exceptions.NotFound(object={word: bodies.printable(text)})
    return text.lower()


def resource_id(word: str, text: str) -> int:
    """Return the id of a resource as it is stored.

    :param word: name of the id in the error message, such as ``host_id``
    :raises climate.exceptions.NotFound: if it is not the number of a resource
    """
    if _RESOURCE_ID.fullmatch(text) is None or int(text) > _LARGEST_RESOURCE_ID:
        raise exceptions.NotFound(object={word: bodies.printable(text)})
    return int(text)
