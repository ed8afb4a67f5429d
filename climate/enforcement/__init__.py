# SPDX-License-Identifier: Apache-2.0

"""Limits of projects and filters, which decide whether a lease is allowed."""
