# SPDX-License-Identifier: Apache-2.0

"""Creates leases for servers that users boot without one.

Start with ``server_leases``. Imports ``running``.
"""
