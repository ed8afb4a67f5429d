# SPDX-License-Identifier: Apache-2.0

"""Lists of Nova, page by page, while items disappear.

Nova continues a list after a marker, the id of an item, and refuses a marker that no
longer exists with a 400: a flavor or hypervisor from its deletion, a server from the
time when deleted rows are archived. The last item of a page may disappear before the
next request.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from typing import TypeVar

from novaclient import exceptions as nova

from climate.cloud.protocols.listed import ListedItem

# A list that is refused again after so many first pages is refused for another reason.
_MOST_RESTARTS = 10
T = TypeVar('T', bound=ListedItem)


def every(fetch: Callable[[str | None], Sequence[T]]) -> list[T]:
    """Return the items of all pages, each id once.

    Each item that exists from the first request to the last is among them. If the marker
    has disappeared, the list continues after an item before it: one back, then two, then
    four, so that many deletions cost few requests.

    :param fetch: returns the page after a marker, the first page for None
    :raises novaclient.exceptions.BadRequest: if Nova also refuses the first page, or every
        page after it
    """
    items: dict[str, T] = {}
    markers: list[str | None] = [None]
    back, restarts = 1, 0
    while True:
        try:
            page = fetch(markers[-1])
        except nova.BadRequest:
            if markers[-1] is None or restarts == _MOST_RESTARTS:
                raise
            markers = markers[:-back] or [None]
            back *= 2
            restarts += markers[-1] is None
            continue
        # A page may be smaller than requested, so only an empty page is the end.
        if not page:
            return list(items.values())
        items.update((item.id, item) for item in page)
        markers.extend(item.id for item in page)
        back = 1
