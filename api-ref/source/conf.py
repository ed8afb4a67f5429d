# SPDX-License-Identifier: Apache-2.0

"""Configuration of the API reference."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from doc.ext import theme

project = 'Climate API reference'
copyright = 'Climate developers'

extensions = ['doc.ext.api_ref', 'doc.ext.copying']

html_title = 'Climate API'
html_theme = theme.NAME
html_theme_options = theme.options()
html_static_path = [theme.STATIC]
html_css_files = theme.STYLES
html_favicon = theme.FAVICON
html_copy_source = False
version = release = ''
