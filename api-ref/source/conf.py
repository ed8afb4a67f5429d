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
