# SPDX-License-Identifier: Apache-2.0

"""What ``climate-manage`` does with a database: delete old rows, change keys.

Start with ``purge``. Imports ``encryption``, ``leases``, ``schema`` and ``transactions``.
"""
