# SPDX-License-Identifier: Apache-2.0

"""Writes mails to a folder instead of sending them, for trials."""

from __future__ import annotations

import contextlib
import email.message
import hashlib
import os
import pathlib
import re
from collections.abc import Iterator
from typing import Final

from climate.clock import Clock
from climate.mail.smtp import ServerUnavailable

SUFFIX: Final = '.eml'

_LONGEST: Final = 80
_OTHER: Final = re.compile('[^a-z0-9]+', re.ASCII)


class MailFolder:
    """A folder with a file for each mail, which mail programs open.

    :param path: created if it does not exist
    :raises OSError: if it cannot be created
    """

    def __init__(self, path: pathlib.Path, clock: Clock) -> None:
        # The mails name users and their leases.
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = path
        self._clock = clock

    @contextlib.contextmanager
    def connected(self) -> Iterator[MailFolder]:
        """Give the body this folder."""
        yield self

    def send(self, letter: email.message.EmailMessage, recipient: str) -> None:
        """Write a mail.

        :raises climate.mail.smtp.ServerUnavailable: if it cannot be written
        """
        file = self.path / _name(letter, f'{self._clock.now():%Y-%m-%d-%H%M%S}')
        part = file.with_suffix('.part')
        try:
            opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with open(opened, 'wb') as stream:
                stream.write(letter.as_bytes())
            part.replace(file)
        except OSError as error:
            raise ServerUnavailable(f'{self.path}: {error.strerror or error}') from None


def _name(letter: email.message.EmailMessage, time: str) -> str:
    """Return the name of the file of a mail, by which files are sorted by time."""
    about = _OTHER.sub('-', str(letter['Subject']).lower())[:_LONGEST].strip('-')
    once = hashlib.sha256(str(letter['Message-ID']).encode()).hexdigest()[:8]
    return f'{time}-{about}-{once}{SUFFIX}'
