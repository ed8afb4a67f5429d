# SPDX-License-Identifier: Apache-2.0

"""How much of an inventory can be given away."""

from __future__ import annotations

from climate.domain.resources import Inventory
from tests import base


class InventoryTest(base.TestCase):
    def test_capacity(self) -> None:
        for total, reserved, ratio, expected in (
            (8, 0, 1.0, 8),
            (8, 2, 1.0, 6),
            (8, 2, 16.0, 96),
            (3, 0, 1.5, 4),
            (2, 4, 1.0, -2),
        ):
            inventory = Inventory(
                resource_class='VCPU', total=total, reserved=reserved, allocation_ratio=ratio
            )
            self.assertEqual(expected, inventory.capacity)
