# SPDX-License-Identifier: Apache-2.0
"""The stubs of the compiled module name what it has, and nothing else; all that is public says
what it is."""

import ast
import inspect
import pathlib
import unittest

import lacuna
from lacuna import _lacuna

PACKAGE = pathlib.Path(lacuna.__file__).parent


def own(names):
    return {name for name in names if not name.startswith("_")}


def stub_names(body):
    names = set()
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
    return own(names)


class StubsTest(unittest.TestCase):
    def test_module_and_classes_have_the_names_of_their_stubs(self):
        tree = ast.parse((PACKAGE / "_lacuna.pyi").read_text(encoding="utf-8"))
        self.assertEqual(stub_names(tree.body), own(vars(_lacuna)))
        for node in tree.body:
            kind = getattr(_lacuna, getattr(node, "name", ""), None)
            if isinstance(node, ast.ClassDef) and not issubclass(kind, Exception):
                self.assertEqual(stub_names(node.body), own(vars(kind)), node.name)

    def test_what_is_public_is_annotated_and_explained(self):
        self.assertTrue((PACKAGE / "py.typed").exists())
        for name in lacuna.__all__:
            thing = getattr(lacuna, name)
            if inspect.isfunction(thing):
                self.assertTrue(inspect.getdoc(thing), name)
                signature = inspect.signature(thing)
                self.assertIsNot(signature.return_annotation, signature.empty, name)
                for parameter in signature.parameters.values():
                    self.assertIsNot(parameter.annotation, parameter.empty, f"{name}, {parameter}")


if __name__ == "__main__":
    unittest.main()
