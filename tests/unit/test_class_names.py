# SPDX-License-Identifier: Apache-2.0

"""A name of a class means one thing: no two classes of Climate have the same."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests import base
from tests.architecture import ROOT

# Names of two classes, each with the reason.
SHARED = {
    'Availability': 'what is free over time, and its resource in openstacksdk',
    'FloatingIP': 'an address in Neutron, and the resource type that leases it',
    'Lease': 'a contract, and its resource in openstacksdk',
    'Leases': 'the operations on leases, and their rows',
    'Maintenances': 'the operations on maintenances, and their rows',
    'Request': 'that of HTTP, and what a client requests of a resource type',
    'ResourceTypes': 'the operations on resource types, and their rows',
    'Resources': 'the operations on resources, and their rows',
}


def places() -> dict[str, list[str]]:
    """Return the files that define a class of each name."""
    found = defaultdict(list)
    for path in sorted((ROOT / 'climate').rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(ROOT)))
    return found


class TestClassNames(base.TestCase):
    """Rename one of the two by what it does, rather than adding to the list."""

    def test_none_occurs_twice(self) -> None:
        twice = {name: files for name, files in places().items() if len(files) > 1}
        self.assertEqual({}, {name: twice[name] for name in sorted(twice.keys() - SHARED.keys())})
        self.assertEqual(set(), SHARED.keys() - twice.keys(), 'take these off the list')
