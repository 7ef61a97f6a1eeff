#!/bin/sh
# The suite on every interpreter of 3.11 to 3.14 that is installed, each in an environment of its own
# (.venv-3.11, ...). PYTHONS="..." names other interpreters. Fails when one of them fails, and when there is none.
set -u
cd "$(dirname "$0")/.." || exit 2

# An interpreter may be on the PATH, or be one that pyenv installed and did not activate.
find_python() {
    if command -v "python$1" >/dev/null 2>&1 && "python$1" -c '' >/dev/null 2>&1; then
        command -v "python$1"
    else
        ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python 2>/dev/null | tail -n 1
    fi
}

pythons=${PYTHONS:-}
if [ -z "$pythons" ]; then
    for version in 3.11 3.12 3.13 3.14; do
        python=$(find_python "$version")
        if [ -n "$python" ]; then
            pythons="$pythons $python"
        else
            echo "Python $version is not installed: skipped"
        fi
    done
fi
[ -n "$pythons" ] || { echo "no interpreter of 3.11 to 3.14 was found"; exit 2; }

# All environments first: the trails of one interpreter are replayed on the others.
for python in $pythons; do
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || exit 2
    venv=.venv-$version
    if [ ! -f "$venv/.ready" ] || [ pyproject.toml -nt "$venv/.ready" ]; then
        echo "== setting up Python $version"
        [ -x "$venv/bin/python" ] || "$python" -m venv "$venv" || exit 2
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip setuptools || exit 2
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -e '.[dev]' || exit 2
        touch "$venv/.ready"
    fi
    versions="${versions:-} $version"
done

# Each area in a process of its own, as in `make test`.
failed=""
for version in $versions; do
    for area in ${*:-tests/test_*.py tests/*/}; do
        case $area in */__pycache__/ | tests/programs/) continue ;; esac
        echo "== Python $version: $area"
        ".venv-$version/bin/python" -m pytest -n 2 "$area" || failed="$failed $version:$area"
    done
done
[ -z "$failed" ] || { echo "the suite fails on:$failed"; exit 1; }
echo "the suite passes on:$versions"
