#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what tests look for in texts with HasSubstr. A text is searched only where its words are the claim.

Cells of a CSV text, members of a JSON text and columns of a printed table are values: a test reads them with
CsvTable, member_of or printed_row of tests/support. So is a name alone, such as that of a row or a column; only
that it is nowhere may be searched. Uses in texts other than messages only get fewer.

  scripts/searched_texts.py          fails on a searched value, and where there are more uses than MOST
  scripts/searched_texts.py --list   prints each use with its kind
"""

import pathlib
import re
import sys

MOST = 320  # uses in texts that are no messages; lower it when there are fewer
LITERAL = r'"(?:[^"\\\n]|\\.)*"|R"\((?:[^)]|\)(?!"))*\)"'
TOKEN = re.compile(LITERAL + r"|//[^\n]*|[()\[\]{},]|\bHasSubstr\b|\b(?:EXPECT|ASSERT)_THAT\b")
MESSAGE = re.compile(r"\berr\b|what\(\)|error|message|refus|remark|note|warning|told|said|reason|unsupported|loss")
LAYOUT = {"tests/unit/report/text_table_test.cpp"}  # whose claim is where a table's columns stand
VALUE = {
    "a CSV row": re.compile(r"\w,[^ ,]*,|^,\S|,,"),
    "a JSON member": re.compile(r'\\?"\w+\\?": ?\S'),
    "a table's columns": re.compile(r"\S {3,}\S"),
    "a name alone": re.compile(r'^(\\")?\w[\w.]*(\\")?$'),
}
ABSENT = re.compile(r"\bNot\(\s*(?:::testing::)?HasSubstr$")
TITLES = {  # names that are words of a title or a script, and are the claim
    "tests/unit/report/explain_test.cpp": "longer",
    "tests/module/driver/tree_training_test.cpp": "bwd.l0.q_again",
}


def uses(text):
    """Position, subject, rest and searched texts of each assertion with HasSubstr."""
    depth, open_, = 0, None
    for token in TOKEN.finditer(text):
        word = token.group()
        if word.endswith("_THAT") and open_ is None:
            open_ = {"at": token.start(), "depth": depth, "from": token.end(), "comma": None, "found": []}
        elif word in ("(", "[", "{"):
            depth += 1
        elif word in (")", "]", "}"):
            depth -= 1
            if open_ and depth == open_["depth"]:
                if open_["found"]:
                    cut = open_["comma"] or token.start()
                    yield open_["at"], text[open_["from"]:cut], text[cut:token.start()], open_["found"]
                open_ = None
        elif word == "," and open_ and depth == open_["depth"] + 1 and open_["comma"] is None:
            open_["comma"] = token.start()
        elif word == "HasSubstr" and open_:
            open_["found"].append(token.end())


def searched(text, at):
    """The literals of the HasSubstr whose bracket opens at `at`, joined."""
    depth, parts = 0, []
    for token in TOKEN.finditer(text, at):
        word = token.group()
        depth += (word == "(") - (word == ")")
        if depth == 0:
            break
        if word.startswith('"'):
            parts.append(word[1:-1])
        elif word.startswith('R"('):
            parts.append(word[3:-2])
    return "".join(parts)


def main():
    count = {"message": 0, "text": 0}
    wrong = []
    for path in sorted(pathlib.Path("tests").rglob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        for at, subject, rest, found in uses(text):
            message = MESSAGE.search(subject) or "Throws" in rest
            count["message" if message else "text"] += len(found)
            for place in found:
                literal = searched(text, place)
                line = text.count("\n", 0, place) + 1
                kinds = [kind for kind, rule in VALUE.items() if rule.search(literal)]
                if ABSENT.search(text, max(0, place - 40), place) or TITLES.get(str(path)) == literal:
                    kinds = [kind for kind in kinds if kind != "a name alone"]
                if "--list" in sys.argv:
                    print(f"{path}:{line}: {'message' if message else 'text'}: {literal}")
                if kinds and not message and str(path) not in LAYOUT:
                    wrong.append(f"{path}:{line}: searches {kinds[0]} in a text: {literal}")
    for line in wrong:
        print(line)
    print(f"{count['message']} searches in messages, {count['text']} in other texts; at most {MOST}")
    return 1 if wrong or count["text"] > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
