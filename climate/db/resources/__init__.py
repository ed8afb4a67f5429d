# SPDX-License-Identifier: Apache-2.0

"""The rows of what can be reserved: resources, their properties and allocations.

Start with ``resources``. Imports ``schema`` and ``statements``.
"""
