# SPDX-License-Identifier: Apache-2.0

"""Calendar feeds: secret links, and the calendars that they show."""
