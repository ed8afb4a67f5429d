# SPDX-License-Identifier: Apache-2.0

"""Errors about networks."""

from __future__ import annotations

from climate import exceptions


class SegmentInUse(exceptions.Conflict):
    """A network of Neutron is on the segment."""

    error_name = 'SEGMENT_IN_USE'
    template = 'Segment %(segment)s is used by network %(network)s'
