# SPDX-License-Identifier: Apache-2.0

"""Configuration of the release notes."""

import logging
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from doc.ext import theme

# A dependency of the theme has every library log what it does.
logging.getLogger('reno').setLevel(logging.WARNING)

project = 'Climate release notes'
copyright = 'Climate developers'

extensions = ['reno.sphinxext']

html_title = 'Climate release notes'
html_theme = theme.NAME
html_theme_options = theme.options()
html_static_path = [theme.STATIC]
html_css_files = theme.STYLES
html_favicon = theme.FAVICON
html_copy_source = False
version = release = ''
