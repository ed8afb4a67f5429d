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

"""Items of lists."""

from __future__ import annotations

from typing import Protocol


class ListedItem(Protocol):
    """An item of a list of a service."""

    @property
    def id(self) -> str:
        """The id, which the service takes as a marker."""
        ...
