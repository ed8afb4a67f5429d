# SPDX-License-Identifier: Apache-2.0

"""Registers ``OS::Climate::Lease`` with Heat."""

from __future__ import annotations

from climate.heat import lease


def resource_mapping() -> dict[str, type[lease.StackLease]]:
    """Return the classes of resources by the types in templates, for Heat."""
    return {'OS::Climate::Lease': lease.StackLease}
