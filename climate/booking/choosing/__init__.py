# SPDX-License-Identifier: Apache-2.0

"""Chooses the resources of a request.

Start with ``choose``. Imports ``requests``.
"""
