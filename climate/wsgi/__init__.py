# SPDX-License-Identifier: Apache-2.0

"""Applications for WSGI servers."""
