# SPDX-License-Identifier: Apache-2.0

"""Runs the events of leases: begin, settle, hand over, give up.

Start with ``begin``. Imports no other room.
"""
