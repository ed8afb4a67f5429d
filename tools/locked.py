# SPDX-License-Identifier: Apache-2.0

"""Selects from ``constraints.txt`` the packages that a list of requirements needs.

``python tools/locked.py requirements.txt python-openstackclient`` writes the entries of
these packages and of all their dependencies, with their hashes, to standard output.
``pip install --require-hashes`` needs a complete list, and an installation of the service
needs no linters. It runs before any package is installed, so it imports only the standard
library.
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Iterable
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / 'constraints.txt'
_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]*')
_VIA = re.compile(r'    # +(?:via )?(?P<name>[a-z0-9-]+)$')


class NotLocked(Exception):
    """A package is not in the constraints; the message names it."""


def canonical(name: str) -> str:
    """Return the normalized name of a package, as package indexes compare names."""
    return re.sub(r'[-_.]+', '-', name).lower()


def names(requirements: str) -> list[str]:
    """Return the names of the packages in a list of requirements."""
    found = (_NAME.match(line) for line in requirements.splitlines())
    return [canonical(match.group()) for match in found if match]


def entries(constraints: str) -> list[tuple[str, str]]:
    """Return the name and the text of each entry of the constraints, in order."""
    blocks = re.split(r'^(?=[a-z0-9])', constraints, flags=re.MULTILINE)
    return [(names(block)[0], block) for block in blocks if names(block)]


def closure(constraints: str, roots: Iterable[str]) -> set[str]:
    """Return the packages *roots* and all their dependencies.

    :raises NotLocked: if a root is not in the constraints
    """
    needs: dict[str, set[str]] = {}
    for name, block in entries(constraints):
        needs.setdefault(name, set())
        for match in filter(None, map(_VIA.match, block.splitlines())):
            needs.setdefault(match['name'], set()).add(name)
    found: set[str] = set()
    left = list(roots)
    while left:
        name = left.pop()
        if name not in needs:
            raise NotLocked(f'{name} is not in constraints.txt: run "make constraints"')
        if name not in found:
            found.add(name)
            left.extend(needs[name])
    return found


def locked(constraints: str, roots: Iterable[str]) -> str:
    """Return the entries that *roots* need, with their hashes.

    :raises NotLocked: if a root is not in the constraints
    """
    wanted = closure(constraints, roots)
    return ''.join(block for name, block in entries(constraints) if name in wanted)


def main(argv: Sequence[str]) -> int:
    """Write the entries for the files and packages in *argv*; return the exit status."""
    roots: list[str] = []
    for argument in argv:
        path = pathlib.Path(argument)
        is_file = path.suffix == '.txt'
        roots += names(path.read_text(encoding='utf-8') if is_file else argument)
    try:
        sys.stdout.write(locked(CONSTRAINTS.read_text(encoding='utf-8'), roots))
    except NotLocked as error:
        sys.stderr.write(f'{error}\n')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
