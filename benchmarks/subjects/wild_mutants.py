"""Writes mutants of one function; prints how many. Run in the environment of the peers.

    python wild_mutants.py FILE FIRST LAST MOST FOLDER

A mutant is the file with one change by one operator of cosmic-ray in these lines; of more than MOST, so many at equal
distances are taken.
"""

import ast
import os
import sys
import textwrap

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

COMPARISONS = "Lt_LtE LtE_Lt Gt_GtE GtE_Gt Eq_NotEq NotEq_Eq Lt_GtE Gt_LtE LtE_Gt GtE_Lt Is_IsNot IsNot_Is"
ARITHMETIC = "Add_Sub Sub_Add Mul_Add Mul_FloorDiv FloorDiv_Mul Mod_Mul Mod_FloorDiv Div_Mul"


def usual(name):
    """cosmic-ray replaces each operator by each other one; of those, the neighbours, as other tools choose them."""
    kind = name.rpartition("/")[2]
    start, _, pair = kind.partition("_")
    if start == "ReplaceComparisonOperator":
        return pair in COMPARISONS.split()
    if start == "ReplaceBinaryOperator":
        return pair in ARITHMETIC.split()
    return not kind.startswith("Variable")


def mutants(source):
    """Every (operator, occurrence) of cosmic-ray on a source that parses afterwards."""
    found = []
    for name in sorted(filter(usual, operator_names())):
        operator = get_operator(name)()
        count = sum(1 for node in ast_nodes(get_ast(source)) for _ in operator.mutation_positions(node))
        for occurrence in range(count):
            mutated = mutate_code(source, operator, occurrence)
            if mutated and parsed(mutated) not in (None, parsed(source)):
                found.append(mutated)
    return list(dict.fromkeys(found))


def parsed(text):
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        return None


def main():
    file, first, last, most, folder = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
    with open(file, encoding="utf-8") as stream:
        lines = stream.read().split("\n")
    own = lines[first - 1 : last]
    indent = own[0][: len(own[0]) - len(own[0].lstrip())]
    found = mutants(textwrap.dedent("\n".join(own)) + "\n")
    chosen = [found[place * len(found) // most] for place in range(most)] if len(found) > most else found
    for number, mutated in enumerate(chosen):
        with open(os.path.join(folder, f"mutant_{number}.py"), "w", encoding="utf-8") as stream:
            changed = textwrap.indent(mutated.rstrip("\n"), indent).split("\n")
            stream.write("\n".join([*lines[: first - 1], *changed, *lines[last:]]))
    print(len(chosen))


if __name__ == "__main__":
    main()
