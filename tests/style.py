# SPDX-License-Identifier: Apache-2.0

"""Finds the words that ``doc/source/contributor/style.rst`` lists to avoid.

``python -m tests.style`` lists them, or only those of the given files.
``python -m tests.style --lower`` lowers the counts in ``tests/unit/style_debts.json`` to
the current ones; it never raises one.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import functools
import io
import json
import pathlib
import re
import sys
import tokenize
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from tests.architecture import ROOT

PAGE = ROOT / 'doc' / 'source' / 'contributor' / 'style.rst'
TERMS = PAGE.with_name('style-terms.csv')
PAIRS = PAGE.with_name('style-pairs.csv')
DEBTS = ROOT / 'tests' / 'unit' / 'style_debts.json'

# Files and folders with text that users, operators or contributors read.
PLACES = (
    *('README.rst', 'CONTRIBUTING.rst', 'SECURITY.rst', 'Makefile', 'doc/source'),
    *('api-ref/source', 'releasenotes/notes', 'etc', 'climate', 'tools'),
    *('benchmarks',),
)
_SUFFIXES = frozenset({'', '.py', '.rst', '.yaml', '.csv', '.txt', '.sample', '.conf'})
# The lists of phrases to avoid.
_EXEMPT = frozenset({TERMS, PAIRS})

# Replaces code, so that the words before and after it do not form a phrase.
_CODE = '\0'
_LITERAL = re.compile(r'``.+?``', re.DOTALL)
_COMMENT_SIGN = re.compile(r'^[ \t]*#+', re.MULTILINE)
_QUOTES = re.compile(r'^[A-Za-z]{0,2}(?:"""|\'\'\'|"|\')|(?:"""|\'\'\'|"|\')$')
# The text between two words of a phrase in a source file: whitespace, comment signs, ends
# and beginnings of strings.
_GAP = r'(?:\W|[rbfu]{1,2}(?=[\'"]))+'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Term:
    """A phrase to avoid, in lower case, and what to write instead."""

    phrase: str
    instead: str

    @functools.cached_property
    def words(self) -> list[str]:
        """Return the words of the phrase."""
        return self.phrase.split()

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern of the phrase in prose, including line breaks."""
        return self._joined(r'\s+')

    @functools.cached_property
    def rough(self) -> re.Pattern[str]:
        """Return the pattern of the phrase in source code, which also finds code."""
        return self._joined(_GAP)

    def _joined(self, gap: str) -> re.Pattern[str]:
        return re.compile(rf'(?<![\w:.-]){gap.join(map(re.escape, self.words))}(?![\w-])')


@dataclasses.dataclass(frozen=True, kw_only=True)
class Hit:
    """A phrase to avoid in a file; ``path`` is relative to the root."""

    path: str
    line: int
    term: Term

    def __str__(self) -> str:
        return f'{self.path}:{self.line}: "{self.term.phrase}": {self.term.instead}'


@functools.cache
def terms() -> tuple[Term, ...]:
    """Return the phrases to avoid."""
    with TERMS.open(encoding='utf-8', newline='') as file:
        rows = list(csv.reader(file))[1:]
    return tuple(
        Term(phrase=phrase.strip(), instead=instead)
        for phrases, instead in rows
        for phrase in phrases.split(',')
    )


def texts() -> Iterator[pathlib.Path]:
    """Yield the files that are searched, in order."""
    for place in PLACES:
        path = ROOT / place
        for file in sorted(path.rglob('*')) if path.is_dir() else [path]:
            if file.is_file() and file.suffix in _SUFFIXES and file not in _EXEMPT:
                yield file


def search(path: str, text: str) -> list[Hit]:
    """Return the phrases to avoid in the text of a file, in order."""
    lowered = text.lower()
    likely = [term for term in terms() if all(word in lowered for word in term.words)]
    if path.endswith('.py'):
        likely = [term for term in likely if term.rough.search(lowered)]
    if not likely:
        return []
    prose = _prose(path, text).lower()
    found = {}
    # Of two phrases at one place the longer one is reported.
    for term in sorted(likely, key=lambda one: len(one.phrase)):
        for match in term.pattern.finditer(prose):
            line = prose.count('\n', 0, match.start()) + 1
            found[match.end()] = Hit(path=path, line=line, term=term)
    return [found[end] for end in sorted(found)]


def _prose(path: str, text: str) -> str:
    """Return the text with the same lines, and blanks instead of everything but prose."""
    text = _strings_and_comments(text) if path.endswith('.py') else text
    text = _LITERAL.sub(lambda match: _blanked(match[0], _CODE), text)
    return _COMMENT_SIGN.sub(lambda match: _blanked(match[0], ' '), text)


def _blanked(text: str, sign: str) -> str:
    return re.sub(r'[^\n]', sign, text)


def _strings_and_comments(source: str) -> str:
    """Return the source of a module with a sign instead of code.

    Between strings that Python concatenates there are only blanks.
    """
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    parts, end = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        begin = starts[token.start[0] - 1] + token.start[1]
        # The end of the file, and indentation, have no text of their own.
        if token.type in (tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT):
            continue
        parts.append(source[end:begin])
        end = starts[token.end[0] - 1] + token.end[1]
        parts.append(_part(token.type, source[begin:end]))
    return ''.join(parts)


def _part(kind: int, text: str) -> str:
    """Return a comment or string without its delimiters, or signs instead of code."""
    if kind in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE):
        return text.replace('#', ' ')
    if kind == tokenize.STRING:
        return _QUOTES.sub(lambda match: _blanked(match[0], ' '), text)
    if tokenize.tok_name[kind].startswith('FSTRING'):
        middle = tokenize.tok_name[kind] == 'FSTRING_MIDDLE'
        return text if middle else _blanked(text, ' ')
    return _blanked(text, _CODE)


def hits(files: Iterable[pathlib.Path] | None = None) -> list[Hit]:
    """Return the phrases to avoid in files; None for all of :func:`texts`."""
    return [
        hit
        for file in (texts() if files is None else files)
        for hit in search(name(file), file.read_text(encoding='utf-8'))
    ]


def name(file: pathlib.Path) -> str:
    """Return the path of a file relative to the root, as in the debts."""
    return file.resolve().relative_to(ROOT.resolve()).as_posix()


def debts() -> dict[str, int]:
    """Return how many phrases each file may still contain."""
    if not DEBTS.exists():
        return {}
    loaded: dict[str, int] = json.loads(DEBTS.read_text(encoding='utf-8'))
    return loaded


def counts(found: Iterable[Hit]) -> dict[str, int]:
    """Return the number of phrases per file, without files that have none."""
    total: dict[str, int] = {}
    for hit in found:
        total[hit.path] = total.get(hit.path, 0) + 1
    return dict(sorted(total.items()))


def excess(found: Sequence[Hit], allowed: Mapping[str, int], files: Iterable[str]) -> list[Hit]:
    """Return the hits of files with more phrases than allowed.

    A renamed file keeps its debt: the files that are not listed yet share the debts of
    files that no longer exist.

    :param files: the names of all files that exist
    """
    there = set(files)
    moved = sum(count for path, count in allowed.items() if path not in there)
    total = counts(found)
    new = sum(count for path, count in total.items() if path not in allowed)
    wrong = {path for path, count in total.items() if count > allowed.get(path, count)}
    if new > moved:
        wrong |= {path for path in total if path not in allowed}
    return [hit for hit in found if hit.path in wrong]


def lower() -> list[Hit]:
    """Lower the debts to the current counts; if a file exceeds its debt, return its hits."""
    found = hits()
    wrong = excess(found, debts(), map(name, texts()))
    if not wrong:
        DEBTS.write_text(json.dumps(counts(found), indent=1) + '\n', encoding='utf-8')
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """List the phrases to avoid, or lower the debts; return 1 if there are hits."""
    parser = argparse.ArgumentParser(prog='python -m tests.style', description=__doc__)
    parser.add_argument('--lower', action='store_true', help='lower the recorded counts')
    parser.add_argument('files', nargs='*', type=pathlib.Path, help='search these files only')
    options = parser.parse_args(arguments)
    found = lower() if options.lower else hits(options.files or None)
    for hit in found:
        print(hit)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
