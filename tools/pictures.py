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

"""Draws the pictures of the README from the records in ``doc/data``.

``python -m tools.pictures`` writes them to ``doc/source/_static``; a test compares them
with the records.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable

from doc.ext import charts

FOLDER = pathlib.Path(charts.__file__).resolve().parents[1] / 'source' / '_static'
FILES: dict[str, Callable[[], charts.Picture]] = {
    'hosts.svg': charts.hosts,
    'lateness.svg': charts.lateness,
}


def text(name: str) -> str:
    """Return the content of the file of a picture."""
    picture = FILES[name]()
    return picture.sheet.standalone(picture.title, picture.description)


def main() -> None:
    """Write all pictures."""
    for name in FILES:
        (FOLDER / name).write_text(text(name), encoding='utf-8')


if __name__ == '__main__':
    main()
