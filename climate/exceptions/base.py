# SPDX-License-Identifier: Apache-2.0

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
