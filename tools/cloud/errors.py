# SPDX-License-Identifier: Apache-2.0

"""The errors of the tool."""

from __future__ import annotations


class CloudError(Exception):
    """The cloud cannot be created, started or found; the message says what to do."""
