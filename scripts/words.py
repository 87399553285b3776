#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the pages short and plain: words by page against a budget, sentences, paragraphs, lines.

  scripts/words.py           fails where a rule is broken
  scripts/words.py --table   prints words by page, longest sentence and paragraph as well

Words of a page are what `wc -w` counts, code blocks and tables with it. A sentence has at most 25
words, a paragraph, an item of a list or a cell at most 100, a line at most 100 characters. Rows of
tables cannot be broken and may be longer; files that are shown whole and outputs are as they are.
"""

import pathlib
import re
import sys

SENTENCE = 25
PARAGRAPH = 100
LINE = 100
BAR = 46_000  # words of all pages

# budget of words: the pages that share it
BUDGETS = {
    "README.md": 900,
    "CHANGELOG.md": 600,
    "doc/index.md": 300,
    "doc/start.md": 1_200,
    "doc/guide/ doc/glossary.md": 12_000,
    "doc/model/": 14_000,
    "doc/trust.md doc/validation/ doc/notes/": 7_000,
    "doc/develop/": 6_000,
    "doc/studies/": 4_000,
}

FENCE = re.compile(r"^ *(```|~~~).*?^ *\1[^\n]*$", re.MULTILINE | re.DOTALL)
TAKEN = re.compile(r"^(?:<!-- file|```text).*?^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.|>|!!!.*|\[\^\w+\]:)\s+")
END = re.compile(r"(?<=[.!?])[)\"'*_]*\s+(?=[^a-z])|(?<=:)\s*$")


def plain(text):
    """Text as it is read: a link is its words, inline code and a formula are one word."""
    text = re.sub(r"`[^`]*`", "Code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"<[^>]+>", " ", text)


def count(text):
    return sum(1 for word in text.split() if re.search(r"\w", word))


def paragraphs(text):
    """Paragraphs, items of lists, headings and cells of tables: the first line and the text."""
    start, held = 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        row = line.lstrip().startswith("|")
        fresh = not line.strip() or row or ITEM.match(line) or line.startswith("#")
        if fresh and held:
            yield start, " ".join(held)
            held = []
        if row:
            yield from ((number, cell.strip()) for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1]))
        elif line.startswith("#"):
            yield number, line.lstrip("# ")
        elif line.strip():
            start = start if held else number
            held.append(ITEM.sub("", line.strip()) if not held else line.strip())


class Page:
    """What is counted of a page, and which rules it breaks."""

    def __init__(self, path):
        self.path = path
        text = path.read_text(encoding="utf-8")
        blank = lambda found: "\n" * found.group().count("\n")
        prose = FENCE.sub(blank, COMMENT.sub(blank, text))
        self.words = len(text.split())
        self.wrong = []
        self.sentence = self.paragraph = 0
        for number, line in enumerate(TAKEN.sub(blank, text).splitlines(), 1):
            if len(line) > LINE and not line.lstrip().startswith("|"):
                self.wrong.append(f"{path}:{number}: {len(line)} characters, {LINE} are the most")
        for number, paragraph in paragraphs(prose):
            self.look(number, plain(paragraph))

    def look(self, number, paragraph):
        words = count(paragraph)
        self.paragraph = max(self.paragraph, words)
        if words > PARAGRAPH:
            self.wrong.append(f"{self.path}:{number}: a paragraph of {words} words, "
                              f"{PARAGRAPH} are the most")
        for sentence in END.split(paragraph):
            words = count(sentence)
            self.sentence = max(self.sentence, words)
            if words > SENTENCE:
                self.wrong.append(f"{self.path}:{number}: a sentence of {words} words, {SENTENCE} "
                                  f"are the most: {sentence[:50]}...")


def belongs(path, places):
    return any(path == place or place.endswith("/") and path.startswith(place)
               for place in places.split())


def main():
    files = [pathlib.Path("README.md"), pathlib.Path("CHANGELOG.md")]
    files += sorted(pathlib.Path("doc").rglob("*.md"))
    pages = [Page(path) for path in files]
    wrong = []
    left = dict.fromkeys(BUDGETS, 0)
    for page in pages:
        path = page.path.as_posix()
        wrong += page.wrong
        places = next((each for each in BUDGETS if belongs(path, each)), None)
        if places:
            left[places] += page.words
        else:
            wrong.append(f"{path}: is in no part of the book; scripts/words.py has the parts")
    wrong += [f"{places}: {words} words, {BUDGETS[places]} are the most"
              for places, words in left.items() if words > BUDGETS[places]]
    total = sum(page.words for page in pages)
    if total > BAR:
        wrong.append(f"{total} words in all pages, {BAR} are the most")
    if "--table" in sys.argv[1:]:
        print(f"{'page':44} {'words':>6} {'sentence':>9} {'paragraph':>10}")
        for page in sorted(pages, key=lambda each: -each.words):
            print(f"{page.path.as_posix():44} {page.words:6} {page.sentence:9} {page.paragraph:10}")
        for places, words in left.items():
            print(f"{places:44} {words:6} of {BUDGETS[places]}")
        print(f"{'all':44} {total:6} of {BAR}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
