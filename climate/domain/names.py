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

"""The characters allowed in names and ids."""

from __future__ import annotations

import re
import uuid
from typing import Final

CONTROL: Final = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')
"""A character that moves the cursor, ends a line, or cannot be stored in a database."""

_UUID = re.compile('[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}')


def without_controls(name: str) -> str:
    """Return a name with spaces in place of control characters."""
    return CONTROL.sub(' ', name)


def uuid_of(text: str) -> str | None:
    """Return an id in the form that OpenStack services use; None if it is not a UUID.

    The form is canonical: two different texts never identify the same object.
    """
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID with dashes, as URLs contain it."""
    return _UUID.fullmatch(text) is not None
