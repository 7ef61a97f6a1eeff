"""Words that every message shares."""

from __future__ import annotations

from treadle.core.words import choices, has_address, hint, nearest, without_addresses


def test_a_misspelt_word_is_answered_with_the_nearest_or_with_what_there_is() -> None:
    assert nearest("depsit", ["withdraw", "deposit"]) == "deposit"
    assert hint("depsit", ["withdraw", "deposit"]) == "; did you mean 'deposit'?"
    assert hint("q", ["withdraw"], "; look it up") == "; look it up"
    assert choices("q", ["beta", "alpha"]) == "; there are: beta, alpha"


def test_how_much_alike_words_must_be_can_be_said() -> None:
    assert (nearest("tf", ["ft"]), nearest("tf", ["ft"], alike=0.5)) == ("", "ft")


def test_addresses_are_others_in_every_run() -> None:
    told = repr(object())
    assert has_address(told)
    assert without_addresses(told) == "<object object>"
    assert not has_address("at 0 x")
