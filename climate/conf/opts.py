# SPDX-License-Identifier: Apache-2.0

"""Lists every option of Climate for the sample and the documentation."""

from __future__ import annotations

from typing import Any

from climate import conf


def list_opts() -> list[tuple[str, list[Any]]]:
    """Return ``(group, options)`` pairs, as oslo.config's generator expects them."""
    groups: dict[str, list[Any]] = {}
    for module in conf.modules():
        for group, options in conf.list_opts(module).items():
            groups.setdefault(group, []).extend(options)
    return sorted(groups.items(), key=lambda pair: (pair[0] != 'DEFAULT', pair[0]))
