# SPDX-License-Identifier: Apache-2.0

"""Reads what the pages print: their code blocks, and the files that they show.

A page is parsed by docutils, which knows nothing of Sphinx: what it has of its own
is declared here, as far as a block may be inside of it.

A comment of reST just above a block is its mark; readers do not see it. See
:mod:`tests.printed.marks`.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Iterator
from typing import Any

import docutils.core
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst import directives
from docutils.parsers.rst import roles
from docutils.parsers.rst.directives import misc

from tests.architecture import ROOT
from tests.printed.marks import Mark
from tests.printed.marks import read_mark
from tests.printed.marks import Where

DOC = ROOT / 'doc' / 'source'
API_REF = ROOT / 'api-ref' / 'source'
# Drawings, and what is shown of a log.
PROSE = frozenset({'text'})
# All of them are requests and answers of one story.
_SAMPLE = Mark(where=Where.TEST, what='tests/functional/test_api_samples.py')
_ROLES = ('doc', 'download', 'ref', 'term')
_OTHERS = (
    *('glossary', 'autoclass', 'autoexception', 'automodule', 'layers', 'rooms'),
    *('life-cycle', 'autoprogram-cliff', 'capabilities', 'metrics', 'operations'),
    *('picture', 'request-fields', 'show-options', 'show-policy', 'toctree'),
    *('rest_expand_all', 'rest_method', 'rest_parameters', 'rest_status_code'),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Block:
    """What a page prints in one piece.

    :ivar page: the path of the page from the root
    :ivar line: where on the page it is, near enough to be found
    :ivar language: what it is written in; '' if the page does not say
    :ivar caption: the name that readers see above it; '' if there is none
    :ivar file: the file that is shown, if it is not on the page itself
    :ivar mark: what becomes of it; None if nothing is said
    """

    page: str
    line: int
    language: str
    text: str
    caption: str
    file: pathlib.Path | None
    mark: Mark | None

    @property
    def place(self) -> str:
        """Where it is, as an editor opens it."""
        return f'{self.page}:{self.line}'


class _Code(Directive):
    """``code-block``, and ``literalinclude`` with the file as its argument."""

    has_content = True
    optional_arguments = 1
    option_spec = {'caption': str, 'language': str, 'lines': str}

    def run(self) -> list[nodes.Node]:
        text = '\n'.join(self.content)
        block = nodes.literal_block(text, text)
        block.line = self.lineno
        block['language'] = ''.join(self.arguments)
        block['caption'] = self.options.get('caption', '')
        return [block]


class _Include(_Code):
    has_content = False

    def run(self) -> list[nodes.Node]:
        file = pathlib.Path(str(self.state.document['source'])).parent / self.arguments[0]
        text = file.read_text(encoding='utf-8')
        block = nodes.literal_block(text, text)
        block.line = self.lineno
        block['language'] = self.options.get('language', '')
        block['caption'] = self.options.get('caption', '')
        block['file'] = str(file)
        return [block]


class _Nothing(Directive):
    """What Sphinx or an extension makes without us."""

    has_content = True
    optional_arguments = 9

    def run(self) -> list[nodes.Node]:
        return []


class _Graph(_Nothing):
    """``graphviz``."""

    option_spec = {'alt': str}


def _as_text(
    role: str, rawtext: str, text: str, *_: Any, **__: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    return [nodes.emphasis(rawtext, text)], []


@functools.cache
def _teach() -> None:
    directives.register_directive('code-block', _Code)
    directives.register_directive('literalinclude', _Include)
    directives.register_directive('graphviz', _Graph)
    # Sphinx's name for it, and that of newer releases of docutils.
    directives.register_directive('rst-class', misc.Class)
    for name in _OTHERS:
        directives.register_directive(name, _Nothing)
    for name in _ROLES:
        roles.register_local_role(name, _as_text)


def _parse(page: pathlib.Path) -> nodes.document:
    _teach()
    return docutils.core.publish_doctree(
        page.read_text(encoding='utf-8'),
        source_path=str(page),
        # What docutils does not know is a fault: blocks could hide in it.
        settings_overrides={'halt_level': 2, 'report_level': 5, 'file_insertion_enabled': True},
    )


def pages() -> list[pathlib.Path]:
    """Return what people read: the page of the project, the guides, the reference."""
    return [
        ROOT / 'README.rst',
        ROOT / 'CONTRIBUTING.rst',
        *sorted(DOC.rglob('*.rst')),
        *sorted(API_REF.glob('*.rst')),
    ]


@functools.cache
def blocks() -> tuple[Block, ...]:
    """Return every block of every page, in order, without those that are prose."""
    return tuple(block for page in pages() for block in read_page(page))


def read_page(page: pathlib.Path) -> list[Block]:
    """Return the blocks of a page, without those that are prose.

    :raises docutils.utils.SystemMessage: if it cannot be parsed
    """
    name = str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else page.name
    return [
        Block(
            page=name,
            line=_line(node),
            language=node.get('language', ''),
            text=node.astext() + '\n',
            caption=node.get('caption', ''),
            file=pathlib.Path(node['file']) if 'file' in node else None,
            mark=_mark(node),
        )
        for node in _parse(page).findall(nodes.literal_block)
        if node.get('language') not in PROSE
    ]


def inline(page: pathlib.Path) -> Iterator[str]:
    """Yield what a page has between double backquotes."""
    for node in _parse(page).findall(nodes.literal):
        yield ' '.join(node.astext().split())


def _line(node: nodes.Element) -> int:
    return int(node.line or node.parent.line or 0)


def _mark(node: nodes.Element) -> Mark | None:
    """Return the mark above a block, or above the paragraph that ends in ``::``."""
    if node.get('file', '').startswith(str(API_REF / 'samples')):
        return _SAMPLE
    before = _before(node)
    if isinstance(before, nodes.paragraph) and before.rawsource.endswith('::'):
        before = _before(before)
    if not isinstance(before, nodes.comment):
        return None
    return read_mark(before.astext())


def _before(node: nodes.Element) -> nodes.Node | None:
    """Return what stands before something in the same place."""
    number = node.parent.index(node)
    return node.parent[number - 1] if number else None
