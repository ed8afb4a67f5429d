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

"""The base of all errors of Climate."""

from __future__ import annotations

from typing import Any
from typing import ClassVar


class ClimateError(Exception):
    """Base of all errors that callers see."""

    code: ClassVar[int] = 500
    error_name: ClassVar[str] = 'INTERNAL_SERVER_ERROR'
    template: ClassVar[str] = 'An unknown exception occurred'

    def __init__(self, message: str | None = None, **facts: Any) -> None:
        self.facts = facts
        super().__init__(message if message is not None else self.template % facts)

    @property
    def message(self) -> str:
        """The message for the caller, as existing clients know it."""
        return str(self.args[0])

    @property
    def sentence(self) -> str:
        """The message for people, from microversion 1.1 on: by default the same."""
        return self.message
