#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes pages of notebooks for the site: beside each NAME.ipynb a NAME.md with its cells and outputs.

usage: notebook_pages.py FOLDER
"""
import base64
import json
import pathlib
import sys


def shown(output, folder, picture):
    """An output as Markdown; a picture becomes a file beside the page."""
    data = output.get("data", {})
    if "image/png" in data:
        (folder / picture).write_bytes(base64.b64decode(data["image/png"]))
        return f"![Figure]({picture})"
    if "text/html" in data:
        return f'<div class="output">{"".join(data["text/html"])}</div>'
    text = "".join(output.get("text", data.get("text/plain", [])))
    return f"```text\n{text.rstrip()}\n```"


def page(path):
    parts = []
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for place, output in enumerate(cell.get("outputs", [])):
            parts.append(shown(output, path.parent, f"{path.stem}_{number}_{place}.png"))
    return "\n\n".join(parts) + "\n"


def main():
    for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.ipynb")):
        path.with_suffix(".md").write_text(page(path), encoding="utf-8")


if __name__ == "__main__":
    main()
