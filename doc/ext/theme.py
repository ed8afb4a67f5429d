# SPDX-License-Identifier: Apache-2.0

"""The look that the guides, the API reference and the release notes share."""

from __future__ import annotations

import pathlib
from typing import Any

NAME = 'furo'
STATIC = str(pathlib.Path(__file__).resolve().parents[1] / 'source' / '_static')
FAVICON = f'{STATIC}/logo.svg'
STYLES = ['climate.css']
# The colours of bars and lines.
PICTURE_LIGHT = {
    'first': '#0e6b74',
    'second': '#7fb8bd',
    'third': '#5b4b8a',
    'late': '#b36b00',
    'mute': '#6b7280',
}
PICTURE_DARK = {
    'first': '#5cc8d3',
    'second': '#2c7f88',
    'third': '#b8a6ea',
    'late': '#ffb84d',
    'mute': '#9aa3af',
}
# Readable on white and on black: contrast of at least 4.5 to 1.
_LIGHT = {
    'color-brand-primary': '#0e6b74',
    'color-brand-content': '#0b6670',
    'color-brand-visited': '#5b4b8a',
    'climate-good': '#1a7f37',
    'climate-bad': '#b3362b',
    **{f'climate-{name}': colour for name, colour in PICTURE_LIGHT.items()},
}
_DARK = {
    'color-brand-primary': '#5cc8d3',
    'color-brand-content': '#6fd3dd',
    'color-brand-visited': '#b8a6ea',
    'climate-good': '#57c777',
    'climate-bad': '#ff8a7a',
    **{f'climate-{name}': colour for name, colour in PICTURE_DARK.items()},
}


def options() -> dict[str, Any]:
    """Return ``html_theme_options``."""
    return {
        'light_logo': 'logo.svg',
        'dark_logo': 'logo.svg',
        'light_css_variables': dict(_LIGHT),
        'dark_css_variables': dict(_DARK),
        'footer_icons': [],
    }
