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

"""The error of a requirement that cannot be read."""

from __future__ import annotations

import re


class RequirementSyntaxError(ValueError):
    """A requirement cannot be read; the message shows the text and points at the column.

    :ivar column: where the text is wrong, from 1
    """

    def __init__(self, text: str, column: int, reason: str) -> None:
        self.column = column
        # Line breaks and tabs would move the mark.
        shown = re.sub(r'\s', ' ', text)
        super().__init__(f'column {column}: {reason}\n  {shown}\n  {" " * (column - 1)}^')
