# SPDX-License-Identifier: Apache-2.0

"""Heat templates with the files that they use, as openstacksdk reads them."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import yaml
from openstack import exceptions
from openstack.orchestration.util import template_utils


def template(path: str) -> dict[str, Any]:
    """Return ``template`` and ``files`` of a stack.

    :param path: of the template; ``get_file`` and nested templates are read, too
    :raises ValueError: if a file cannot be read
    """
    place = _existing(path)
    try:
        files, content = template_utils.get_template_contents(template_file=place)
    except (OSError, ValueError, exceptions.SDKException) as error:
        raise ValueError(f'{path}: {line(error)}') from None
    # JSON is YAML, and Heat accepts it.
    return {'template': json.dumps(content), **({'files': _text(files)} if files else {})}


def environment(path: str) -> dict[str, Any]:
    """Return ``environment`` and ``files`` of a stack.

    :raises ValueError: if a file cannot be read
    """
    place = _existing(path)
    try:
        files, content = template_utils.process_environment_and_files(env_path=place)
    except (OSError, ValueError, exceptions.SDKException) as error:
        raise ValueError(f'{path}: {line(error)}') from None
    return {'environment': json.dumps(content), **({'files': _text(files)} if files else {})}


def line(error: BaseException) -> str:
    """Return the text of an error in one line; that of YAML has an excerpt, too."""
    # openstacksdk repeats the path as a URL before what is wrong.
    error = error.__context__ or error
    for each in (error, *error.args):
        if isinstance(each, yaml.MarkedYAMLError) and each.problem_mark is not None:
            mark = each.problem_mark
            return f'line {mark.line + 1}, column {mark.column + 1}: {each.problem}'
    return ' '.join(str(error).split())


def _existing(path: str) -> str:
    """Return the path of a text, so that a message names the path rather than a URL made of it."""
    try:
        if not pathlib.Path(path).read_text(encoding='utf-8').strip():
            raise ValueError(f'{path}: the file is empty')
    except OSError as error:
        raise ValueError(f'{path}: {error.strerror}') from None
    except UnicodeError:
        raise ValueError(f'{path}: not a text in UTF-8') from None
    return path


def _text(files: dict[str, Any]) -> dict[str, str]:
    return {
        name: text.decode() if isinstance(text, bytes) else text for name, text in files.items()
    }
