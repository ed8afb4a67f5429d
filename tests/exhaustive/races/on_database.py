# SPDX-License-Identifier: Apache-2.0

"""The base of races in several processes on one database."""

from __future__ import annotations

from tests.exhaustive.races import databases
from tests.exhaustive.races import defences
from tests.exhaustive.races.defences import Defences
from tests.exhaustive.races.workers import Workers


class DatabaseRace(databases.OnEngine):
    """Races in several processes on one database.

    :param defended: what keeps them from double bookings
    """

    def __init__(self, kind: str, defended: Defences = defences.BOTH) -> None:
        super().__init__(kind)
        self._defended = defended

    def _setUp(self) -> None:
        database = databases.RaceDatabase(self._kind, guarded=self._defended.guarded)
        self._database = self.useFixture(database)
        self._workers = self.useFixture(Workers(*database.place, verified=self._defended.verified))
