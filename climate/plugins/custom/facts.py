# SPDX-License-Identifier: Apache-2.0

"""The facts that Climate records for a reservation of a type that operators declare."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from climate.domain.facts import fact
from climate.domain.facts import Facts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CustomFacts(Facts):
    """The facts of a reservation of a declared type.

    :ivar allocated: its resources, as the API shows them
    """

    allocated: tuple[Mapping[str, Any], ...] = fact((), read=tuple)
