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

"""What is asked for with ``virtual:stack``.

Either a stack that exists or what one is to be made of, and what is to be done
with it at the end. Template, parameters, environment and files may hold
secrets: they are stored, for they are needed at the start, and shown nowhere.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients import templates
from climate.clients.protocols.stacks import StackDraft
from climate.clients.template_budget import Budget
from climate.clients.template_budget import TooLarge
from climate.plugins import fields
from climate.plugins import stack_contents
from climate.plugins.stack_contents import Contents

RESOURCE_TYPE = 'virtual:stack'
ON_END = ('snapshot', 'suspend', 'delete')
BEFORE_END = ('snapshot', 'notify')
# What Heat lets be done with a stack after an action, and what is of any use:
# it deletes the snapshots of a stack with the stack, and cannot resume one
# whose snapshot was taken while it was suspended.
_AFTER: Mapping[str, frozenset[str]] = {
    'snapshot': frozenset({'suspend'}),
    'suspend': frozenset({'delete'}),
    'delete': frozenset(),
}
_OF_EXISTING = ('snapshot', 'suspend')
_OF_MADE = ('delete',)
_NAME = re.compile(r'[A-Za-z][\w.-]{0,254}', re.ASCII)
_UNSTORABLE = re.compile('[\x00\ud800-\udfff]')
_TEXTS = ('template', 'environment')
_MAPPINGS = ('parameters', 'files')

_SCHEMA_TEXT = {'type': ['string', 'null']}
_SCHEMA_ACTIONS = {'type': ['array', 'string', 'null'], 'maxLength': fields.LONGEST_TEXT}
SCHEMA: Mapping[str, Any] = {
    'type': 'object',
    'required': ['resource_type'],
    'properties': {
        'resource_type': {'const': RESOURCE_TYPE},
        'stack_id': fields.TEXT,
        'name': fields.TEXT,
        'template': _SCHEMA_TEXT,
        'environment': _SCHEMA_TEXT,
        'parameters': {'type': ['object', 'null']},
        'files': {'type': ['object', 'null'], 'additionalProperties': {'type': 'string'}},
        'on_end': {**_SCHEMA_ACTIONS, 'items': {'enum': list(ON_END)}},
        'before_end': {**_SCHEMA_ACTIONS, 'items': {'enum': list(BEFORE_END)}},
        'guarantee': fields.AFFINITY,
    },
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackRequest:
    """What somebody wants: a stack for a time.

    :ivar stack_id: Heat's id of one that exists; '' if it is to be made
    :ivar draft: what is to be made, without tags; None if it exists
    :ivar on_end: what is done with it at the end, in this order
    :ivar before_end: what is done shortly before
    :ivar guarantee: whether room for the servers of one to be made is booked
    :ivar name: of the stack
    :ivar thing: which resource stands for it: a stack of this name in the
        project; '' until the cloud was looked at
    :ivar contents: what takes room in one that is to be made, by flavor ids;
        None until the cloud was looked at
    """

    stack_id: str = ''
    draft: StackDraft | None = None
    on_end: tuple[str, ...] = _OF_EXISTING
    before_end: tuple[str, ...] = ()
    guarantee: bool = True
    name: str = ''
    thing: str = ''
    contents: Contents | None = None


def read(body: Mapping[str, Any], *, strict: bool, longest: int) -> StackRequest:
    """Read a new request.

    :param longest: bytes that template, environment, parameters and files may have together
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    fields.known(body, SCHEMA, strict=strict)
    stack_id = fields.text(body, 'stack_id').strip()
    draft = None
    if stack_id:
        _check_nothing_is_made(body)
    else:
        draft = _draft(body, longest)
    return checked(
        StackRequest(
            stack_id=stack_id,
            draft=draft,
            name='' if draft is None else draft.name,
            on_end=_actions(body, 'on_end', ON_END, _OF_EXISTING if stack_id else _OF_MADE),
            before_end=_actions(body, 'before_end', BEFORE_END, ()),
            guarantee=fields.affinity(body, 'guarantee') is not False,
        )
    )


def change(request: StackRequest, body: Mapping[str, Any], *, strict: bool) -> StackRequest:
    """Return *request* with the changes a client sent: only of what is done at the end.

    :raises climate.exceptions.InvalidInput: naming the field and why
    :raises climate.exceptions.CantUpdateParameter: if a field is fixed
    """
    fields.known(body, SCHEMA, strict=strict, also=('id',))
    draft = request.draft
    for key, now in (('stack_id', request.stack_id), ('name', request.name)):
        if fields.text(body, key) not in ('', now):
            raise exceptions.CantUpdateParameter(param=key)
    for key in _TEXTS:
        if _text(body, key) not in ('', '' if draft is None else getattr(draft, key)):
            raise exceptions.CantUpdateParameter(param=key)
    for key in _MAPPINGS:
        if _mapping(body, key) not in ({}, {} if draft is None else getattr(draft, key)):
            raise exceptions.CantUpdateParameter(param=key)
    if fields.affinity(body, 'guarantee') not in (None, request.guarantee):
        raise exceptions.CantUpdateParameter(param='guarantee')
    return checked(
        dataclasses.replace(
            request,
            on_end=_actions(body, 'on_end', ON_END, request.on_end),
            before_end=_actions(body, 'before_end', BEFORE_END, request.before_end),
        )
    )


def checked(request: StackRequest) -> StackRequest:
    """Return the request if its parts go together.

    :raises climate.exceptions.MalformedParameter: naming what does not
    """
    for first, then in zip(request.on_end, request.on_end[1:], strict=False):
        if then not in _AFTER[first]:
            raise exceptions.MalformedParameter(_order(first, then))
    if 'delete' in request.on_end and 'snapshot' in request.before_end:
        raise exceptions.MalformedParameter(
            'Malformed parameter before_end: Heat deletes the snapshots of a stack with it'
        )
    if request.draft is not None and request.guarantee and 'delete' not in request.on_end:
        # The flavors of its servers go with the room that was booked.
        raise exceptions.MalformedParameter(
            "Malformed parameter on_end: a stack that is made with guarantee ends by 'delete'; "
            'set guarantee to false otherwise'
        )
    return request


def _order(first: str, then: str) -> str:
    text = f"Malformed parameter on_end: '{then}' cannot come after '{first}'"
    if (first, then) == ('snapshot', 'delete'):
        return f'{text}: Heat deletes the snapshots of a stack with it'
    if (first, then) == ('suspend', 'snapshot'):
        return f'{text}: Heat could not resume it any more'
    return text


def dump(request: StackRequest) -> dict[str, Any]:
    """Return *request* as JSON values, for the store."""
    draft = request.draft
    return {
        'stack_id': request.stack_id,
        'draft': None
        if draft is None
        else {
            'template': draft.template,
            'environment': draft.environment,
            'parameters': dict(draft.parameters),
            'files': dict(draft.files),
        },
        'on_end': list(request.on_end),
        'before_end': list(request.before_end),
        'guarantee': request.guarantee,
        'name': request.name,
        'thing': request.thing,
        'contents': None if request.contents is None else request.contents.dump(),
    }


def load(stored: Mapping[str, Any]) -> StackRequest:
    """Return the request that :func:`dump` wrote."""
    draft, contents = stored['draft'], stored['contents']
    return StackRequest(
        stack_id=stored['stack_id'],
        draft=None if draft is None else StackDraft(name=stored['name'], **draft),
        on_end=tuple(stored['on_end']),
        before_end=tuple(stored['before_end']),
        guarantee=stored['guarantee'],
        name=stored['name'],
        thing=stored['thing'],
        contents=None if contents is None else stack_contents.load(contents),
    )


def _check_nothing_is_made(body: Mapping[str, Any]) -> None:
    """Refuse what a stack is made of, for one that exists."""
    given: dict[str, Any] = {'name': fields.text(body, 'name')}
    given |= {key: _text(body, key) for key in _TEXTS}
    given |= {key: _mapping(body, key) for key in _MAPPINGS}
    for key, value in given.items():
        if value:
            raise exceptions.MalformedParameter(
                f'Malformed parameter {key}: the stack of stack_id has one already'
            )


def _draft(body: Mapping[str, Any], longest: int) -> StackDraft:
    name = fields.text(body, 'name', required=True)
    if not _NAME.fullmatch(name):
        raise exceptions.MalformedParameter(
            'Malformed parameter name: a stack is called by a letter, and then letters, digits '
            'and any of _.-'
        )
    draft = StackDraft(
        name=name,
        template=_text(body, 'template'),
        environment=_text(body, 'environment'),
        parameters=_mapping(body, 'parameters'),
        files=_files(body),
    )
    if not draft.template.strip():
        raise exceptions.MissingParameter(param='template')
    size = len(draft.template.encode()) + len(draft.environment.encode())
    size += len(json.dumps([draft.parameters, draft.files]))
    if size > longest:
        raise exceptions.MalformedParameter(
            f'Malformed parameter template: with all that belongs to it, it has {size} bytes, '
            f'and {longest} are allowed'
        )
    try:
        templates.check_size([draft.template, draft.environment, *draft.files.values()], Budget())
    except TooLarge as error:
        raise exceptions.MalformedParameter(
            f'Malformed parameter template: with all that belongs to it, {error.message}'
        ) from None
    return draft


def _text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    if value is None:
        return ''
    if not isinstance(value, str) or _UNSTORABLE.search(value):
        raise exceptions.MalformedParameter(f'Malformed parameter {key}: it is not a text')
    return value


def _mapping(body: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = body.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict) or not _storable(value):
        raise exceptions.MalformedParameter(f'Malformed parameter {key}: it is not an object')
    return value


def _storable(value: Any) -> bool:
    """Whether every text in a JSON value is one that each engine can store."""
    if isinstance(value, dict):
        return all(_storable(key) and _storable(item) for key, item in value.items())
    if isinstance(value, list):
        return all(_storable(item) for item in value)
    return not (isinstance(value, str) and _UNSTORABLE.search(value))


def _files(body: Mapping[str, Any]) -> dict[str, str]:
    found = _mapping(body, 'files')
    for name, text in found.items():
        if not isinstance(text, str):
            raise exceptions.MalformedParameter(
                f'Malformed parameter files: {name[:60]!r} is not a text'
            )
    return found


def _actions(
    body: Mapping[str, Any], key: str, known: tuple[str, ...], default: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what is to be done, in order; clients send a list, or a text with commas."""
    value = body.get(key)
    if value is None or value in ('', 'default'):
        return default
    if isinstance(value, str):
        value = [word.strip() for word in value.split(',') if word.strip()]
    if not isinstance(value, list) or not all(item in known for item in value):
        raise exceptions.MalformedParameter(
            f'Malformed parameter {key}: it is a list of some of {", ".join(known)}'
        )
    if len(set(value)) < len(value):
        raise exceptions.MalformedParameter(f'Malformed parameter {key}: something is in it twice')
    return tuple(value)
