# SPDX-License-Identifier: Apache-2.0

"""Clients for the services of a cloud."""
