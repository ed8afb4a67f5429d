# SPDX-License-Identifier: Apache-2.0

"""The name of the resource type of floating IPs."""

from __future__ import annotations

from typing import Final

RESOURCE_TYPE: Final = 'virtual:floatingip'
TAKEN: Final = 'Neutron has a floating IP of it that Climate has not made'
"""Why an address cannot be leased."""
