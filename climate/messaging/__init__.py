# SPDX-License-Identifier: Apache-2.0

"""RPC between the processes, and notifications for other services."""

from __future__ import annotations

import importlib
import warnings

with warnings.catch_warnings():
    # A dependency of oslo.messaging imports eventlet, which Climate does not use, and
    # which prints a deprecation warning on every terminal.
    warnings.filterwarnings('ignore', message=r'\s*Eventlet is deprecated')
    importlib.import_module('oslo_messaging')
