# SPDX-License-Identifier: Apache-2.0

"""``python -m climate.heat``: prints the folder for ``plugin_dirs`` in ``heat.conf``."""

from __future__ import annotations

import pathlib
import sys

sys.stdout.write(f'{pathlib.Path(__file__).with_name("plugins")}\n')
