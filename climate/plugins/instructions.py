# SPDX-License-Identifier: Apache-2.0

"""What a person does with a reservation: commands to copy, and values such as ids."""

from __future__ import annotations

import dataclasses
import re
import shlex
from typing import Final

from climate.domain import names

MOST: Final = 10
"""The most instructions of one kind that a reservation should have."""

_NAME: Final = re.compile('[a-z][a-z0-9_]{0,63}', re.ASCII)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Instruction:
    """One thing that a person can do with a reservation.

    :ivar name: a stable key, under which clients find translations of the title
    :ivar title: what the command or the value is for, in English
    :ivar command: a command to copy, see :func:`command`; '' if there is only a value
    :ivar value: a value to copy, such as an address; '' if there is only a command
    """

    name: str
    title: str
    command: str = ''
    value: str = ''


def command(*words: str) -> str:
    """Return a command line, with each word quoted as a shell requires.

    Words in capital letters, such as ``IMAGE``, stand for what the person chooses.
    """
    return shlex.join(words)


def create_server(*words: str) -> str:
    """Return the command that creates a server, with options of the reservation."""
    options = ['--image', 'IMAGE']
    for option in ('--flavor', '--network'):
        if option not in words:
            options += [option, option[2:].upper()]
    return command('openstack', 'server', 'create', *words, *options, 'NAME')


def fault(one: Instruction) -> str:
    """Return what is wrong with an instruction; '' if it is well-formed."""
    if _NAME.fullmatch(one.name) is None:
        return f'name: {one.name!r} is no word of lower-case letters, digits and underscores'
    if not one.title.strip():
        return f'{one.name}: it has no title'
    if not one.command and not one.value:
        return f'{one.name}: it has neither a command nor a value'
    for text in (one.title, one.command, one.value):
        if names.misfit(text):
            return f'{one.name}: {text!r} has characters that cannot be printed'
    try:
        shlex.split(one.command)
    except ValueError as error:
        return f'{one.name}: {one.command!r} is not quoted for a shell ({error})'
    return ''
