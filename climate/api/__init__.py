# SPDX-License-Identifier: Apache-2.0

"""The REST API: from an HTTP request to the leasing core, and back to JSON."""
