# SPDX-License-Identifier: Apache-2.0

"""Claims due leases, in turn from all projects while there are more than can be claimed."""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections import deque
from collections.abc import Sequence
from typing import Final

from climate.clock import Clock
from climate.db.leases.due import DueLeases
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.manager.claims.claims import ClaimKeeper

# How many leases to look ahead in a backlog, and for how long, in seconds. What becomes due
# afterwards waits until the next time.
_AHEAD: Final = 1000
_LASTS: Final = 0.25
# To look reads all due leases, which takes long if there are thousands. This many times as
# long passes until the next time, at most so many seconds.
_RARELY: Final = 20
_LONGEST: Final = 2.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """The result of a claim.

    :ivar ids: the claimed leases
    :ivar more: whether more may be due already
    :ivar due: when something is due next (aware UTC); None if nothing is, or with *more*
    """

    ids: list[str]
    more: bool
    due: datetime.datetime | None = None


class DueQueue:
    """Claims due leases for one thread of a manager.

    The first claim takes those that are due longest. If it takes as many as it may, there
    is a backlog: the following claims take leases in turn from each project, so that a
    project with thousands of leases does not delay the others.
    """

    def __init__(
        self, store: Store, clock: Clock, claims: ClaimKeeper, rng: random.Random | None = None
    ) -> None:
        """Prepare for claims.

        :param rng: where to begin in a backlog that managers share; None for a source of
            its own
        """
        self._store = store
        self._rng = rng or random.Random()
        self._clock = clock
        self._claims = claims
        self._waiting: deque[str] = deque()
        self._backlog = False
        # Whether other managers have claimed leases out of the same backlog.
        self._shared = False
        self._look_again_at = 0.0

    def claim(self, limit: int) -> Claimed:
        """Claim up to *limit* leases.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        if self._backlog:
            return self._claim_in_turn(limit)
        ids, due = self._claims.take_and_look(limit)
        self._backlog, self._shared = len(ids) == limit, False
        return Claimed(ids=ids, more=self._backlog, due=due)

    def _claim_in_turn(self, limit: int) -> Claimed:
        if not self._waiting or self._clock.ticks() >= self._look_again_at:
            self._look_ahead()
        chosen = [self._waiting.popleft() for _ in range(min(limit, len(self._waiting)))]
        more = self._backlog = len(chosen) == limit
        ids, due = self._claims.claim(
            lambda tx, until, at: self._take(tx, chosen, until, at, look=not more)
        )
        if len(ids) < len(chosen):
            # Other managers claim the same leases.
            self._waiting.clear()
            self._shared = True
        return Claimed(ids=ids, more=more, due=due)

    def _look_ahead(self) -> None:
        at = self._claims.at()
        began = self._clock.ticks()
        with self._store.reading() as tx:
            self._waiting = deque(DueLeases(tx.session, tx.now).fair(_AHEAD, at))
        if self._shared:
            # Managers that all begin at the head take the leases from each other, and have
            # to look again each time.
            self._waiting.rotate(self._rng.randrange(_AHEAD))
        now = self._clock.ticks()
        self._look_again_at = now + min(max(_LASTS, _RARELY * (now - began)), _LONGEST)

    def _take(
        self,
        tx: Transaction,
        chosen: Sequence[str],
        until: datetime.datetime,
        at: datetime.datetime,
        *,
        look: bool,
    ) -> tuple[list[str], datetime.datetime | None]:
        due = DueLeases(tx.session, tx.now)
        ids = due.claim(self._claims.owner, until, chosen, at) if chosen else []
        return ids, tx.claims.next_due(at) if look else None
