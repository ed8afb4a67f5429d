# SPDX-License-Identifier: Apache-2.0

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
