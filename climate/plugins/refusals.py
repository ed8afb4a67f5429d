# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
