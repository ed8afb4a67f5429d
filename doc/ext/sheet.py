# SPDX-License-Identifier: Apache-2.0

"""A sheet to draw bars, lines and words on, as SVG whose colours are classes of ``climate.css``."""

from __future__ import annotations

from xml.etree import ElementTree

from doc.ext.svg import NAMESPACE

WIDTH = 580
LETTER = 6.8
"""About how wide a letter of the usual size is."""


class Sheet:
    """Things to be drawn, in their order.

    :ivar width: in pixels, before it is scaled
    """

    def __init__(self, height: float, width: float = WIDTH) -> None:
        self.width = width
        self.height = height
        self._root = ElementTree.Element(
            _tag('svg'),
            {
                'viewBox': f'0 0 {width:g} {height:g}',
                'width': f'{width:g}',
                'height': f'{height:g}',
            },
        )

    def add(self, tag: str, **attributes: str | float) -> ElementTree.Element:
        """Add an element; ``class_`` is its class, ``_`` in a name stands for ``-``."""
        written = {
            key.rstrip('_').replace('_', '-'): value if isinstance(value, str) else f'{value:.5g}'
            for key, value in attributes.items()
        }
        return ElementTree.SubElement(self._root, _tag(tag), written)

    def bar(
        self, x: float, y: float, width: float, height: float, class_: str, tip: str = ''
    ) -> None:
        """Add a bar; *tip* is shown by the pointer."""
        # What is short stays visible.
        width = max(width, 1.5)
        made = self.add('rect', class_=class_, x=x, y=y, width=width, height=height, rx=2)
        if tip:
            ElementTree.SubElement(made, _tag('title')).text = tip

    def line(self, x1: float, y1: float, x2: float, y2: float, class_: str = 'line') -> None:
        """Add a straight line."""
        self.add('line', class_=class_, x1=x1, y1=y1, x2=x2, y2=y2)

    def text(self, x: float, y: float, words: str, class_: str = '', anchor: str = 'start') -> None:
        """Add a line of words; *y* is their base."""
        attributes = {'class_': class_} if class_ else {}
        self.add('text', x=x, y=y, text_anchor=anchor, **attributes).text = words

    @property
    def root(self) -> ElementTree.Element:
        """What was drawn, for a page."""
        return self._root


def _tag(name: str) -> str:
    return f'{{{NAMESPACE}}}{name}'
