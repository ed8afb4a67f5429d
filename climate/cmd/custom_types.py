# SPDX-License-Identifier: Apache-2.0

"""Reads the file in which an operator declares resource types."""

from __future__ import annotations

import pathlib
from typing import Any

import yaml

from climate import exceptions
from climate.api.schemas import resource_types as schemas
from climate.domain.resource_types import Declaration
from climate.domain.resource_types import Origin

_TOP = 'resource_types'


def read(path: str) -> tuple[Declaration, ...]:
    """Return the resource types that a file declares; none if *path* is empty.

    :raises climate.exceptions.ConfigurationError: if the file is invalid; the message
        has one line
    """
    if not path:
        return ()
    declarations: dict[str, Declaration] = {}
    for number, body in enumerate(_bodies(path), 1):
        try:
            declaration = schemas.read_new(body, Origin.FILE)
        except exceptions.InvalidInput as error:
            raise _wrong(path, f'type {number}: {error.message}') from error
        if declaration.name in declarations:
            raise _wrong(path, f'{declaration.name} is declared twice')
        declarations[declaration.name] = declaration
    return tuple(declarations.values())


def _bodies(path: str) -> list[Any]:
    try:
        content = yaml.safe_load(pathlib.Path(path).read_text(encoding='utf-8'))
    except (OSError, UnicodeError) as error:
        raise _wrong(path, str(error)) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f'line {mark.line + 1}: ' if mark else ''
        raise _wrong(path, f'{line}{error.problem}') from error
    except yaml.YAMLError as error:
        raise _wrong(path, ' '.join(str(error).split())) from error
    if not isinstance(content, dict) or set(content) != {_TOP}:
        raise _wrong(path, f'an object with the one field {_TOP} is required')
    bodies = content[_TOP]
    if not isinstance(bodies, list):
        raise _wrong(path, f'{_TOP}: a list is required')
    return bodies


def _wrong(path: str, reason: str) -> exceptions.ConfigurationError:
    return exceptions.ConfigurationError(f'[custom] types_file: {path}: {reason}')
