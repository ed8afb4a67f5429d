# SPDX-License-Identifier: Apache-2.0

"""Which fields of a reservation are requirements."""

from __future__ import annotations

from typing import Final

REQUIREMENTS: Final = ('resource_properties', 'hypervisor_properties', 'network_properties')
"""The fields whose values are requirements."""
