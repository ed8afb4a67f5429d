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

"""Writes the types of the API for TypeScript, from the OpenAPI document.

``make web-types`` writes ``web/src/api.d.ts``; a test checks that it is current.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any
from typing import Final

from tools import openapi

FILE: Final = pathlib.Path(__file__).resolve().parents[1] / 'web' / 'src' / 'api.d.ts'

_HEAD: Final = """\
// The types of the API at microversion {version}. Do not edit: "make web-types" writes them.

"""
_PLAIN: Final = {
    'string': 'string',
    'integer': 'number',
    'number': 'number',
    'boolean': 'boolean',
    'null': 'null',
}
_NAME: Final = re.compile('[A-Za-z_][A-Za-z0-9_]*')
_VERBS: Final = ('get', 'post', 'put', 'patch', 'delete')

Schema = dict[str, Any]


def text(document: dict[str, Any]) -> str:
    """Return the file for a document."""
    parts = [_HEAD.format(version=document['info']['version'])]
    for name, schema in document['components']['schemas'].items():
        parts.append(_component(name, schema))
    parts.append('export interface Operations {\n')
    for path, item in document['paths'].items():
        parts += [_operation(verb, path, item[verb]) for verb in _VERBS if verb in item]
    parts.append('}\n')
    return ''.join(parts)


def _component(name: str, schema: Schema) -> str:
    return f'{_comment(schema, "")}export type {name} = {_type(schema, "")};\n\n'


def _operation(verb: str, path: str, operation: dict[str, Any]) -> str:
    lines = [f'  /** {operation["summary"]}. */']
    lines.append(f'  {_key(f"{verb.upper()} {path}")}: {{')
    queries = [one for one in operation['parameters'] if one.get('in') == 'query']
    if queries:
        required = any(one.get('required') for one in queries)
        lines.append(f'    query{"" if required else "?"}: {{')
        for one in queries:
            mark = '' if one.get('required') else '?'
            lines.append(f'      {_key(one["name"])}{mark}: {_type(one["schema"], "      ")};')
        lines.append('    };')
    if 'requestBody' in operation:
        lines.append(f'    body: {_type(_schema(operation["requestBody"]), "    ")};')
    shown = [
        _type(_schema(answer), '    ')
        for status, answer in operation['responses'].items()
        if status.startswith('2') and 'content' in answer
    ]
    lines.append(f'    answer: {" | ".join(shown) or "void"};')
    return '\n'.join([*lines, '  };', ''])


def _schema(holder: dict[str, Any]) -> Schema:
    found: Schema = holder['content']['application/json']['schema']
    return found


def _type(schema: Schema, indent: str) -> str:
    """Return the type of values that match a schema, as far as TypeScript can say it."""
    if '$ref' in schema:
        return str(schema['$ref']).rpartition('/')[2]
    if 'const' in schema:
        return json.dumps(schema['const'])
    if 'enum' in schema:
        return ' | '.join(json.dumps(one) for one in schema['enum'])
    for word in ('anyOf', 'oneOf'):
        if word in schema and 'properties' not in schema:
            return ' | '.join(dict.fromkeys(_type(one, indent) for one in schema[word]))
    kinds = schema.get('type', ())
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    found = [_of_kind(kind, schema, indent) for kind in kinds]
    return ' | '.join(dict.fromkeys(found)) or 'unknown'


def _of_kind(kind: str, schema: Schema, indent: str) -> str:
    if kind == 'array':
        return f'Array<{_type(schema.get("items", {}), indent)}>'
    if kind != 'object':
        return _PLAIN[kind]
    if schema.get('properties'):
        return '\n'.join(['{', *_fields(schema, indent + '  '), f'{indent}}}'])
    others = schema.get('additionalProperties', {})
    if not isinstance(others, dict):
        return 'Record<string, never>' if others is False else 'Record<string, unknown>'
    # Unlike a Record, this may refer to the type that it is a part of.
    return f'{{ [name: string]: {_type(others, indent)} }}'


def _fields(schema: Schema, indent: str) -> Iterator[str]:
    required = schema.get('required', ())
    for name, one in schema['properties'].items():
        mark = '' if name in required else '?'
        comment = _comment(one, indent)
        yield f'{comment}{indent}{_key(name)}{mark}: {_type(one, indent)};'
    if schema.get('additionalProperties', True) is not False:
        yield f'{indent}[key: string]: unknown;'


def _comment(schema: Schema, indent: str) -> str:
    words = schema.get('description')
    return f'{indent}/** {words.replace("*/", "* /")} */\n' if words else ''


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else f"'{name}'"


def main() -> int:
    """Write the file."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text(openapi.document()), encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
