# SPDX-License-Identifier: Apache-2.0

"""The kinds of fields that a request can declare.

A kind reads one value as real clients send it (numbers as integers or as
text, requirements as JSON text or as a list), and has a JSON schema of
exactly the values that it reads. It never receives null, which means "not
given": see :mod:`climate.plugins.models`.
"""

from __future__ import annotations

import abc
import dataclasses
import enum
import re
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated
from typing import Any
from typing import ClassVar
from typing import Final
from typing import Literal

import pydantic

from climate import exceptions
from climate.allocation import requirements
from climate.domain import names
from climate.plugins import schemas

MAX_COUNT: Final = 2**31 - 1
LONGEST_TEXT: Final = 255
# PostgreSQL cannot store NUL, and no engine can store half a surrogate pair.
UNSTORABLE: Final = re.compile('[\x00\ud800-\udfff]')

_UUID: Final = r'(?:urn:)?(?:uuid:)?\{*(?:-*[0-9a-fA-F]){32}-*\}*'


class Fixed(enum.Enum):
    """When a field can no longer be changed."""

    NEVER = 'never'
    RUNNING = 'once the lease runs'
    ALWAYS = 'once booked'


class Fault(ValueError):
    """An invalid value.

    :ivar why: what is wrong with it
    :ivar error: class of the error that the client receives
    :ivar key: the key inside the field; '' for the field itself
    """

    def __init__(
        self,
        why: str,
        error: type[exceptions.InvalidInput] = exceptions.MalformedParameter,
        key: str = '',
    ) -> None:
        # Pydantic encodes the text of an error as UTF-8, which some values cannot be.
        super().__init__()
        self.why = why
        self.error = error
        self.key = key

    def refusal(self, key: str) -> exceptions.InvalidInput:
        """Return the error that a client receives for the field *key*."""
        key = self.key or key
        if self.error is exceptions.MissingParameter:
            return self.error(param=key)
        requirement = self.error is exceptions.MalformedRequirements
        noun = 'requirements' if requirement else 'parameter'
        return self.error(f'Malformed {noun} {key}: {self.why}')


@dataclasses.dataclass(frozen=True)
class Field:
    """One field of a request, as an annotation of its type, which pydantic reads.

    :ivar about: a sentence for users
    :ivar key: its name in a body and in the database; '' if it is that of the attribute
    :ivar fixed: when it can no longer be changed
    :ivar blank: whether an empty text means "not given", as null does
    :ivar kept: whether it is stored; others are accepted because clients send them
    :ivar within: the object in which it is stored with other fields; '' if there is none
    """

    about: str
    _: dataclasses.KW_ONLY
    key: str = ''
    fixed: Fixed = Fixed.NEVER
    blank: bool = False
    kept: bool = True
    within: str = ''

    kind: ClassVar[str] = ''
    """The name of its type for users; '' for the name in the JSON schema."""
    definitions: ClassVar[Mapping[str, schemas.Schema]] = {}
    """The schemas in ``$defs`` that its JSON schema refers to."""

    @property
    def bounds(self) -> str:
        """The limits of a value, for users; '' if there are none."""
        return ''

    @property
    def schema(self) -> schemas.Schema | None:
        """The JSON schema of its values; None if pydantic knows it."""
        return None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: pydantic.GetCoreSchemaHandler
    ) -> Any:
        """Let pydantic read the annotated type."""
        return handler(source)


class Kind(Field, abc.ABC):
    """A field that is read as existing clients send it."""

    @property
    @abc.abstractmethod
    def schema(self) -> schemas.Schema:
        """The JSON schema of exactly the values that :meth:`read` takes."""

    @property
    def common(self) -> Any:
        """The type of common values, which pydantic reads faster than :meth:`read`, or None."""
        return None

    @abc.abstractmethod
    def read(self, value: Any) -> Any:
        """Return what a client means by *value*, which is not null.

        :raises Fault: if the value is invalid
        """

    def of(self, body: Mapping[str, Any], key: str) -> Any:
        """Return one field of a body that has no model.

        :raises climate.exceptions.InvalidInput: naming the field and the reason
        """
        value = body.get(key)
        if value is None:
            raise exceptions.MissingParameter(param=key)
        try:
            return self.read(value)
        except Fault as fault:
            raise fault.refusal(key) from None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: pydantic.GetCoreSchemaHandler
    ) -> Any:
        """Let pydantic call :meth:`read`, except for common values."""
        read: Any = Annotated[Any, pydantic.PlainValidator(self.read)]
        if self.common is not None:
            read = Annotated[self.common | read, pydantic.Field(union_mode='left_to_right')]
        return handler.generate_schema(read)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> schemas.Schema:
        """Let pydantic publish nothing; :attr:`schema` is published instead."""
        return {}


@dataclasses.dataclass(frozen=True)
class Count(Kind):
    """A number of things, as an integer or as digits in a text."""

    least: int = 1
    most: int = MAX_COUNT
    kind = 'integer'

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return f'{self.least} to {self.most}'

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        digits = {
            'type': 'string',
            'minLength': 1,
            'maxLength': 10,
            'pattern': f'^0*(?:{schemas.up_to(self.most)}){"" if self.least else "?"}$',
            'not': {'pattern': '[^0-9]'},
        }
        return {'anyOf': [{'type': 'integer', 'minimum': self.least, 'maximum': self.most}, digits]}

    @property
    def common(self) -> Any:
        """An integer."""
        return Annotated[int, pydantic.Field(strict=True, ge=self.least, le=self.most)]

    def read(self, value: Any) -> int:
        """Return the number."""
        if value == '':
            raise Fault('', exceptions.MissingParameter)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 10:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Fault(f'{shown(value)} is not a whole number')
        if not self.least <= value <= self.most:
            raise Fault(f'it must be between {self.least} and {self.most}')
        return value


@dataclasses.dataclass(frozen=True)
class Text(Kind):
    """A text; clients that read ``key=123`` from a command line send a number.

    :ivar required: whether it must not be blank
    :ivar lines: whether it may have several lines, unlike a name
    """

    required: bool = False
    lines: bool = False
    kind = 'text'

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return f'up to {LONGEST_TEXT} characters' + ('' if self.lines else ', one line')

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        number = {'type': 'integer', 'minimum': -MAX_COUNT, 'maximum': MAX_COUNT}
        text = {'type': 'string', 'maxLength': LONGEST_TEXT}
        text |= {'pattern': r'\S'} if self.required else {}
        return {
            'anyOf': [{**text, **(schemas.LINES if self.lines else schemas.NO_CONTROLS)}, number]
        }

    def read(self, value: Any) -> str:
        """Return the text."""
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_COUNT:
            value = str(value)
        if not isinstance(value, str) or UNSTORABLE.search(value):
            raise Fault(f'{shown(value)} is not a text')
        if names.misfit(value, names.Characters.LINES if self.lines else names.ONE_LINE):
            raise Fault(f'{shown(value)} has control characters')
        if len(value) > LONGEST_TEXT:
            raise Fault(f'it is longer than {LONGEST_TEXT} characters')
        if self.required and not value.strip():
            raise Fault('', exceptions.MissingParameter)
        return value


@dataclasses.dataclass(frozen=True)
class Identifier(Text):
    """The id of something in the cloud, as the cloud writes it; '' if there is none.

    :ivar noun: what it is the id of, such as ``a volume``
    """

    noun: str = 'it'
    kind = 'UUID'

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return ''

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        pattern = rf'^\s*(?:{_UUID})?\s*$'
        return {
            'type': 'string',
            'maxLength': LONGEST_TEXT,
            'pattern': pattern,
            **schemas.NO_CONTROLS,
        }

    def read(self, value: Any) -> str:
        """Return the id."""
        text = super().read(value).strip()
        uuid = names.uuid_of(text) if re.fullmatch(_UUID, text) else None
        if text and uuid is None:
            raise Fault(f'it is not the id of {self.noun}')
        return uuid or ''


@dataclasses.dataclass(frozen=True)
class Flag(Kind):
    """A boolean, or its name; None if a client leaves it open.

    :ivar none: whether the word ``none`` leaves it open, as an empty text does
    """

    none: bool = True
    kind = 'boolean'

    @property
    def _words(self) -> dict[str, bool | None]:
        words: dict[str, bool | None] = {'true': True, 'false': False}
        return {**words, 'none': None, '': None} if self.none else {**words, '': None}

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return 'true, false or none' if self.none else 'true or false'

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        words = '|'.join(schemas.any_case(word) for word in self._words if word)
        return {
            'anyOf': [{'type': 'boolean'}, {'type': 'string', 'pattern': rf'^\s*(?:{words})?\s*$'}]
        }

    def read(self, value: Any) -> bool | None:
        """Return the boolean."""
        if isinstance(value, bool):
            return value
        word = value.strip().lower() if isinstance(value, str) else value
        if not isinstance(word, str) or word not in self._words:
            raise Fault(f'{shown(value)} is not {self.bounds}')
        return self._words[word]


@dataclasses.dataclass(frozen=True)
class OneOf(Kind):
    """One of several words.

    :ivar words: the words
    :ivar otherwise: the reason for refusing any other; by default the error lists the words
    """

    words: Sequence[str] = ()
    otherwise: str = ''
    kind = 'text'

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return ', '.join(map(repr, self.words))

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        return {'enum': list(self.words)}

    def read(self, value: Any) -> str:
        """Return the word."""
        if value not in self.words:
            raise Fault(self.otherwise or f'{shown(str(value))} is not one of {self.bounds}')
        return str(value)


@dataclasses.dataclass(frozen=True)
class Requirement(Kind):
    """A requirement expression, kept as JSON text; '' if there is none."""

    kind = 'requirement'
    definitions = {'requirement': schemas.REQUIREMENT}
    common = Literal['']

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes, as far as a schema can express them."""
        text = {'type': 'string', 'maxLength': requirements.MAX_CHARACTERS}
        listed = {'type': 'array', 'anyOf': [{'maxItems': 0}, {'$ref': '#/$defs/requirement'}]}
        return {'anyOf': [{**text, 'contentMediaType': 'application/json'}, listed]}

    def read(self, value: Any) -> str:
        """Return the text."""
        if value in ('', []):
            return ''
        if not isinstance(value, str | list):
            raise Fault(f'{shown(value)} is not an expression', exceptions.MalformedRequirements)
        try:
            parsed = requirements.parse(value)
        except requirements.RequirementError as error:
            raise Fault(str(error), exceptions.MalformedRequirements) from None
        if parsed is None:
            return ''
        return value if isinstance(value, str) else requirements.dumps(parsed)


def shown(value: Any) -> str:
    """Return *value* as error messages show it: at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + '...'
