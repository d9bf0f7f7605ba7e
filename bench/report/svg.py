"""A little of SVG: bars, dots and lines over labelled axes."""

import math
from html import escape

COLORS = ["#1f5fa8", "#e07b39", "#3c9d5d", "#b8455c", "#7a5bb0", "#8a7a3c", "#4fa6b5", "#777777"]
LEFT, TOP, BOTTOM, RIGHT = 70, 40, 120, 230


class Chart:
    """Collects shapes in plot coordinates of `width` x `height` and writes the file."""

    def __init__(self, title, width, height, y_title):
        self.width, self.height = width, height
        self.items = []
        self.legend = []
        self.text(0, -18, title, size=15)
        self.text(-50, height / 2, y_title, anchor="middle", rotate=-90)

    def text(self, x, y, content, size=11, anchor="start", rotate=0):
        turn = f' transform="rotate({rotate} {x:.1f} {y:.1f})"' if rotate else ""
        self.items.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
                          f'text-anchor="{anchor}"{turn}>{escape(str(content))}</text>')

    def line(self, points, color="#ccc", width=1.0, dash=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.items.append(f'<polyline points="{path}" fill="none" stroke="{color}" '
                          f'stroke-width="{width}"{dashes}/>')

    def bar(self, x, y, width, height, color):
        self.items.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{height:.1f}" fill="{color}"/>')

    def dot(self, x, y, color, radius=3.5):
        self.items.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}"/>')

    def name(self, label, color):
        if (label, color) not in self.legend:
            self.legend.append((label, color))

    def write(self, path):
        for i, (label, color) in enumerate(self.legend):
            self.bar(self.width + 12, 16 * i, 10, 10, color)
            self.text(self.width + 27, 16 * i + 9, label)
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width + LEFT + RIGHT}" '
                f'height="{self.height + TOP + BOTTOM}" font-family="sans-serif">\n'
                '<rect width="100%" height="100%" fill="white"/>\n'
                f'<g transform="translate({LEFT} {TOP})">\n' + "\n".join(self.items)
                + "\n</g>\n</svg>\n")


class Log:
    """A logarithmic axis from `low` to `high` onto 0 .. length."""

    def __init__(self, low, high, length):
        self.low, self.high, self.length = low, high, length

    def __call__(self, value):
        value = min(max(value, self.low), self.high)
        return self.length * math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self, steps=(1, 2, 5)):
        decade = 10.0 ** math.floor(math.log10(self.low))
        while decade <= self.high:
            for step in steps:
                if self.low <= step * decade <= self.high:
                    yield step * decade
            decade *= 10


def plain(number):
    return f"{number:g}"
