# SPDX-License-Identifier: Apache-2.0

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
