# SPDX-License-Identifier: Apache-2.0

"""The base of all errors of Climate."""

from __future__ import annotations

import re
from typing import Any
from typing import ClassVar
from typing import Final

_WORDS: Final = re.compile('(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])')


class ClimateError(Exception):
    """Base of all errors that callers see.

    An error with a template of its own is named after its class, such as ``HOST_NOT_FOUND``
    after ``HostNotFound``, unless it has another ``error_name``.
    """

    code: ClassVar[int] = 500
    error_name: ClassVar[str] = 'INTERNAL_SERVER_ERROR'
    template: ClassVar[str] = 'An unknown exception occurred'

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if 'template' in vars(cls) and 'error_name' not in vars(cls):
            cls.error_name = _WORDS.sub('_', cls.__name__).upper()

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
