# SPDX-License-Identifier: Apache-2.0

"""Claims due leases, and does their work: the loop of a manager.

Start with ``loop``. Imports ``running``.
"""
