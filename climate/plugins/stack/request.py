# SPDX-License-Identifier: Apache-2.0
"""The request of ``virtual:stack``.

It names an existing stack or has the ingredients of a new one, and lists the actions
at the end. Template, parameters, environment and files may contain secrets: they are
stored, since the start needs them, and shown nowhere.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Collection
from collections.abc import Mapping
from typing import Annotated
from typing import Any
from typing import ClassVar
from typing import Final
from typing import Self

from climate import exceptions
from climate.cloud import templates
from climate.cloud.protocols.stacks import StackDraft
from climate.cloud.template_budget import Budget
from climate.cloud.template_budget import TooLarge
from climate.domain.drafts import DRAFT
from climate.plugins import fields
from climate.plugins import models
from climate.plugins import schemas
from climate.plugins.fields import Fixed
from climate.plugins.stack import kinds
from climate.plugins.stack.contents import Contents

RESOURCE_TYPE: Final = 'virtual:stack'
_OF_EXISTING: Final = ('snapshot', 'suspend')
_NAME: Final = r'[A-Za-z][A-Za-z0-9_.-]{0,254}'
_INGREDIENTS: Final = ('name', 'template', 'environment', 'parameters', 'files')

_FIXED: Final[Mapping[str, Any]] = {'fixed': Fixed.ALWAYS, 'blank': True}
_DRAFT: Final[Mapping[str, Any]] = {**_FIXED, 'within': DRAFT}

_EXISTS = schemas.called('stack_id')
_MADE: schemas.Schema = {
    'required': ['name', 'template'],
    'properties': {
        'name': {'type': 'string', 'pattern': f'^{_NAME}$'},
        'template': {'type': 'string', 'pattern': r'\S'},
    },
}
_USUAL_END = {'properties': {'on_end': {'enum': [None, '', kinds.DEFAULT]}}}
_DELETED = schemas.including('on_end', 'delete')
_DELETED_AS_USUAL = {'allOf': [_USUAL_END, {'not': _EXISTS}]}
_RULES = [
    {'if': _EXISTS, 'then': schemas.without(_INGREDIENTS), 'else': _MADE},
    {
        'if': {'anyOf': [_DELETED, _DELETED_AS_USUAL]},
        'then': {'not': schemas.including('before_end', 'snapshot')},
        'else': {'anyOf': [_EXISTS, schemas.flagged('guarantee', False)]},
    },
]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackRequest(models.Request):
    """A stack for a time.

    :ivar thing: the name of the resource that represents a stack of this name in the
        project; '' until the request is inspected
    :ivar contents: the contents of a new stack that take room, by flavor ids; None
        until the request is inspected
    """

    stack_id: Annotated[
        str,
        fields.Text(
            'A stack that exists, by its id or name in Heat; without it a stack is made.', **_FIXED
        ),
    ] = ''
    name: Annotated[
        str,
        fields.Text(
            'The name of the stack to make: a letter, then letters, digits, dots, hyphens and '
            'underscores.',
            **_FIXED,
        ),
    ] = ''
    template: Annotated[str, kinds.Content('The template of the stack to make.', **_DRAFT)] = (
        dataclasses.field(default='', repr=False)
    )
    environment: Annotated[
        str, kinds.Content('The environment of the stack to make.', **_DRAFT)
    ] = dataclasses.field(default='', repr=False)
    parameters: Annotated[
        Mapping[str, Any],
        kinds.ParameterValues(
            'Values for the parameters of the template.', fixed=Fixed.ALWAYS, within=DRAFT
        ),
    ] = dataclasses.field(default_factory=dict, repr=False)
    files: Annotated[
        Mapping[str, str],
        kinds.Files(
            'Texts that template and environment name, by their names.',
            fixed=Fixed.ALWAYS,
            within=DRAFT,
        ),
    ] = dataclasses.field(default_factory=dict, repr=False)
    on_end: Annotated[tuple[str, ...], kinds.ON_END] = ('delete',)
    before_end: Annotated[tuple[str, ...], kinds.BEFORE_END] = ()
    guarantee: Annotated[
        bool, fields.Flag('Whether room is booked for what a stack to make contains.', **_FIXED)
    ] = True
    thing: str = ''
    contents: Contents | None = None

    rules: ClassVar[Mapping[str, Any]] = {'allOf': _RULES}
    unstated: ClassVar[tuple[str, ...]] = (
        'template, environment, parameters and files must not be larger together than the '
        'operator allows.',
    )

    @property
    def draft(self) -> StackDraft | None:
        """The stack to create, without tags; None for an existing stack."""
        if self.stack_id:
            return None
        return StackDraft(
            name=self.name,
            template=self.template,
            environment=self.environment,
            parameters=self.parameters,
            files=self.files,
        )

    @classmethod
    def complete(
        cls, values: dict[str, Any], given: Collection[str], before: Self | None
    ) -> dict[str, Any]:
        """Refuse the ingredients of a new stack for an existing one."""
        if 'stack_id' in given:
            values = {**values, 'stack_id': values['stack_id'].strip()}
        described = [key for key in _INGREDIENTS if key in given and values[key] != {}]
        if before is not None:
            empty = {'stack_id', *_INGREDIENTS} - {*described}
            return {key: each for key, each in values.items() if each or key not in empty}
        if not values.get('stack_id'):
            _check_made(values)
            return values
        for key in described:
            raise exceptions.MalformedParameter.of(key, 'the stack of stack_id has one already')
        return {'on_end': _OF_EXISTING, **values}

    def check(self) -> None:
        """Refuse actions at the end that contradict booked room, or a snapshot before the end."""
        if 'delete' in self.on_end and 'snapshot' in self.before_end:
            raise exceptions.MalformedParameter.of(
                'before_end', 'Heat deletes the snapshots of a stack with it'
            )
        if not self.stack_id and self.guarantee and 'delete' not in self.on_end:
            # The flavors of its servers are deleted with the booked room.
            raise exceptions.MalformedParameter.of(
                'on_end',
                'a stack that is made with guarantee ends with '
                "'delete'; set guarantee to false otherwise",
            )


def _check_made(values: Mapping[str, Any]) -> None:
    """Refuse a new stack without a name that Heat accepts, or without a template."""
    name = values.get('name', '')
    if not name.strip():
        raise exceptions.MissingParameter(param='name')
    if not re.fullmatch(_NAME, name):
        raise exceptions.MalformedParameter.of(
            'name', 'the name of a stack is a letter, then letters, digits and any of _.-'
        )
    if not values.get('template', '').strip():
        raise exceptions.MissingParameter(param='template')


def check_size(draft: StackDraft, longest: int) -> None:
    """Refuse a draft that is too large.

    :param longest: maximum of template, environment, parameters and files together, in bytes
    :raises climate.exceptions.MalformedParameter: if they are larger
    """
    size = len(draft.template.encode()) + len(draft.environment.encode())
    size += len(json.dumps([draft.parameters, draft.files]))
    if size > longest:
        raise exceptions.MalformedParameter.of(
            'template', f'with everything it uses, it has {size} bytes, and {longest} are allowed'
        )
    try:
        templates.check_size([draft.template, draft.environment, *draft.files.values()], Budget())
    except TooLarge as error:
        raise exceptions.MalformedParameter.of(
            'template', f'with everything it uses, {error.message}'
        ) from None
