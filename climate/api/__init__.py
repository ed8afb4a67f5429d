# SPDX-License-Identifier: Apache-2.0

"""The REST API: from an HTTP request to the leasing core, and back to JSON."""

from __future__ import annotations

from climate import imports

# Climate renders no templates with pecan, and its templates would colour the source of errors.
imports.load('pecan', absent=('genshi', 'jinja2', 'kajiki', 'pygments'))
imports.load_middleware()
