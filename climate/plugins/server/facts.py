# SPDX-License-Identifier: Apache-2.0

"""The facts that Climate records for a reservation of a server."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from climate.domain.facts import fact
from climate.domain.facts import Facts
from climate.plugins.host.facts import ReleaseFacts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SnapshotFacts(Facts):
    """The facts about an image that the lease creates.

    :ivar before: ids of the images that existed before it
    :ivar image_id: its id in Glance; None until it is created
    """

    before: tuple[str, ...] = fact(read=tuple)
    image_id: str | None = fact(None, key='id')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerFacts(ReleaseFacts):
    """The facts of a reservation of a server.

    The released host is the one that Climate took out of the pool so that Nova
    can schedule the server there.

    :ivar was: the status that the server had before the lease changed it
    :ivar server_id: Nova's id of a server that the lease booted
    :ivar call: the call that booted it
    :ivar kept: whether a server that the lease booted was suspended, and is kept
    :ivar broken: the id of a booted server that was in ERROR, and is deleted
    :ivar asked: the effect for which Nova is asked to unshelve the server
    :ivar tried: the same, once Nova was asked; if it has to be asked again, the
        first attempt failed
    :ivar snapshots: the images that the lease creates, by occasion
    :ivar image_ids: ids of the images that now belong to the project
    :ivar ended: the completed actions of ``on_end``
    """

    was: str | None = None
    server_id: str | None = None
    call: str | None = None
    kept: bool = False
    broken: str | None = None
    asked: str | None = None
    tried: str | None = None
    snapshots: Mapping[str, SnapshotFacts] = fact(
        factory=dict,
        read=lambda stored: {
            occasion: SnapshotFacts.load(mine) for occasion, mine in stored.items()
        },
    )
    image_ids: tuple[str, ...] = fact((), read=tuple)
    ended: tuple[str, ...] = fact((), read=tuple)
