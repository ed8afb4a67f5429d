# SPDX-License-Identifier: Apache-2.0

"""The contract of Nova and Glance, held against a real cloud."""

from __future__ import annotations

from tests.contract import booting_contracts
from tests.contract import contracts
from tests.contract import flavor_contracts
from tests.contract import paging_contracts
from tests.contract import real_worlds
from tests.contract import server_contracts
from tests.contract import slot_contracts


class TestRealHypervisors(contracts.HypervisorContract):
    """Hypervisors on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealAggregates(contracts.AggregateContract):
    """Aggregates on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealAggregateLimits(contracts.AggregateLimitsContract):
    """Limits of aggregates on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealServers(server_contracts.ServerContract):
    """Servers on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealPagedServers(paging_contracts.PagedServerContract):
    """Lists of servers on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealServerLife(server_contracts.ServerLifeContract):
    """ServerLife on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealBooted(booting_contracts.BootedAndShelvedContract):
    """Servers that others boot, on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealImages(server_contracts.ImageContract):
    """Images on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealFlavors(flavor_contracts.FlavorContract):
    """Flavors on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealPagedFlavors(paging_contracts.PagedFlavorContract):
    """Lists of flavors on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealServerGroups(flavor_contracts.ServerGroupContract):
    """ServerGroups on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealServices(flavor_contracts.ServiceContract):
    """Services on a real cloud."""

    world_type = real_worlds.RealWorld


class TestRealSlots(slot_contracts.SlotContract):
    """Slots on a real cloud."""

    world_type = real_worlds.RealWorld
