# SPDX-License-Identifier: Apache-2.0

"""Leases as the API shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from climate.api.http.microversions import Microversion
from climate.api.views.lease_writer import LeaseWriter
from climate.domain.leases import Lease
from climate.domain.listed import ListedLease
from climate.leases.reading import Describer


def lease(
    value: Lease, describers: Mapping[str, Describer], version: Microversion
) -> dict[str, Any]:
    """Return a lease as the API shows it at a microversion."""
    writer = LeaseWriter(describers, version)
    found: dict[str, Any] = json.loads(writer.object(ListedLease.of(value)))
    return found
