# SPDX-License-Identifier: Apache-2.0

"""Errors about resources, in the words of their type."""

from __future__ import annotations

from climate import exceptions
from climate.domain.resources import Resource


class Refusals:
    """Errors for any type; a type whose clients expect others overrides them."""

    def exists(self, resource_type: str, name: str) -> exceptions.ResourceExists:
        """Return the error for a name that is already registered."""
        return exceptions.ResourceExists(resource_type=resource_type, name=name)

    def renamed(self, resource: Resource, known: Resource) -> exceptions.ResourceExists:
        """Return the error for a resource that is registered under another name."""
        return self.exists(resource.resource_type, known.name)

    def in_use(self, resource: Resource) -> exceptions.ResourceInUse:
        """Return the error for deleting a resource that has reservations."""
        return exceptions.ResourceInUse(resource_type=resource.resource_type, name=resource.name)

    def required(self, resource: Resource, name: str) -> exceptions.PropertyInUse:
        """Return the error for changing a property that a reservation requires."""
        return exceptions.PropertyInUse(name=name, resource=resource.name)
