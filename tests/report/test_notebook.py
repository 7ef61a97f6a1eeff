"""What a notebook shows of `treadle.check(...)`."""

from __future__ import annotations

import re
from html import unescape

import treadle
from treadle.report.page import render


class Account:
    def __init__(self) -> None:
        self.balance = 0

    def deposit(self) -> None:
        self.balance = round(self.balance + 1)


def two_deposits() -> None:
    account = Account()
    treadle.parallel(account.deposit, account.deposit)
    assert account.balance == 2, '"><script>alert(1)</script>'


def one_deposit() -> None:
    Account().deposit()


def test_a_failure_is_shown_with_its_lanes_and_as_text() -> None:
    html = treadle.check(two_deposits)._repr_html_()
    assert html is not None
    (page,) = re.findall(r'<iframe [^>]*sandbox="allow-scripts" srcdoc="([^"]*)"', html)
    assert "<script>alert(1)" not in html
    assert unescape(page).startswith(render([])[:15])
    assert '"kind":"explore"' in unescape(page)
    assert "<b>FAILED</b>" in html.partition("<details>")[2]
    assert "writes Account#1.balance" in html.partition("<details>")[2]
    assert "on: every build" in html.partition("<details>")[2]


def test_what_is_no_failure_is_two_or_three_lines() -> None:
    html = treadle.check(one_deposit)._repr_html_()
    assert html is not None
    assert html.startswith("<div><b>NOTHING-TO-EXPLORE</b> ")
    assert "<iframe" not in html
    assert "next: start at least two threads" in html
