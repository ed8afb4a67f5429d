# SPDX-License-Identifier: Apache-2.0

"""The name of the resource type of hosts."""

from __future__ import annotations

from typing import Final

RESOURCE_TYPE: Final = 'physical:host'
