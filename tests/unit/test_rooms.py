# SPDX-License-Identifier: Apache-2.0

"""The rooms of large packages, and a test that each rule finds what breaks it."""

from __future__ import annotations

from tests import rooms
from tests.unit import test_architecture


class TestRooms(test_architecture.ArchitectureTestCase):
    """Rooms import only rooms below them, and their maps are true."""

    def test_imports_point_down(self) -> None:
        self.assert_kept(rooms.upward_arrows)

    def test_maps_are_true(self) -> None:
        self.assert_kept(rooms.wrong_maps)

    def test_upward(self) -> None:
        self.assert_refused(
            rooms.upward_arrows,
            'climate/db/schema/tables.py',
            'from climate.db.leases import events',
            'from climate.db.leases.events import Events',
            'import climate.db.engine.errors',
            'from ..engine import errors',
        )

    def test_sideways(self) -> None:
        self.assert_refused(
            rooms.upward_arrows,
            'climate/db/leases/leases.py',
            'from climate.db.search import search',
        )

    def test_downward(self) -> None:
        self.assert_allowed(
            rooms.upward_arrows,
            'climate/db/leases/leases.py',
            'from climate.db.schema import tables',
            'from climate.db.leases import events',
            'from climate.domain import leases',
            'from climate.api import app',
        )

    def test_unknown_room(self) -> None:
        self.assert_refused(rooms.upward_arrows, 'climate/db/attic/x.py', '')

    def test_map(self) -> None:
        path = 'climate/db/statements/__init__.py'
        rest = 'Start with ``repository``.'
        self.assert_allowed(
            rooms.wrong_maps, path, f'"""X.\n\n{rest} Imports ``engine`` and ``schema``.\n"""'
        )
        self.assert_refused(
            rooms.wrong_maps,
            path,
            f'"""X.\n\n{rest} Imports ``engine``.\n"""',
            f'"""X.\n\n{rest} Imports no other room.\n"""',
            f'"""X.\n\n{rest}\n"""',
            '"""X.\n\nStart with ``x``. Imports ``engine`` and ``schema``.\n"""',
            f'"""X.\n\n{"y" * 9}{chr(10) * 9}{rest} Imports ``engine`` and ``schema``.\n"""',
        )
