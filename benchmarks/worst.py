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

"""Measures what the worst requests cost: ``python benchmarks/worst.py --help``."""

from __future__ import annotations

import pathlib
import sys


def main() -> int:
    """Run the suite; return the exit status."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    from benchmarks import worst_suite  # noqa: PLC0415 - needs the path above

    return worst_suite.main()


if __name__ == '__main__':
    sys.exit(main())
