# SPDX-License-Identifier: Apache-2.0

"""Errors about networks."""

from __future__ import annotations

from climate import exceptions


class SegmentInUse(exceptions.Conflict):
    """A network of Neutron is on the segment."""

    template = 'Segment %(segment)s is used by network %(network)s'
