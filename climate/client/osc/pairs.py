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


"""Options with a name and a value, such as ``--property rack=A``."""

from __future__ import annotations

import argparse
import re


def pair(text: str) -> tuple[str, str]:
    """Return the name and the value of an option, for argparse."""
    name, sign, value = text.partition('=')
    if not name or not sign:
        raise argparse.ArgumentTypeError(f'{text!r} is no NAME=VALUE')
    return name, value


def amount(text: str) -> tuple[str, int]:
    """Return the resource class and the amount of an option, for argparse."""
    name, value = pair(text)
    if not re.fullmatch(r'[0-9]{1,18}', value):
        raise argparse.ArgumentTypeError(f'{value!r} is no number')
    return name, int(value)
