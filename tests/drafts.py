# SPDX-License-Identifier: Apache-2.0

"""Drafts of resources for tests."""

from __future__ import annotations

from climate.domain.resource_types import Declaration
from climate.domain.resource_types import Origin
from climate.domain.resources import ResourceDraft

# Like a type that is declared in a file.
RACKS = Declaration(
    name='custom:rack',
    description='Racks of the hall',
    noun='racks',
    announce=('hall',),
    origin=Origin.FILE,
)


def host(name: str, **capabilities: str) -> ResourceDraft:
    """Return the draft of a host."""
    return ResourceDraft(resource_type='physical:host', name=name, capabilities=capabilities)
