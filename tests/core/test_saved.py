"""Stopped campaigns: gone on with only by the same command on the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.core.saved import SavedCampaign


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def test_a_campaign_is_known_by_all_that_decides_it() -> None:
    SavedCampaign("class", "pkg:Queue", 3).save([1, 2], [])
    assert SavedCampaign("class", "pkg:Queue", 3).load() == [1, 2]
    assert SavedCampaign("class", "pkg:Queue", 4).load() is None
    assert SavedCampaign("unit", "pkg:Queue", 3).load() is None
    SavedCampaign("class", "pkg:Queue", 3).remove()
    assert SavedCampaign("class", "pkg:Queue", 3).load() is None


def test_what_was_done_on_other_code_does_not_count(tmp_path: Path) -> None:
    code = tmp_path / "queue.py"
    code.write_text("a = 1")
    campaign = SavedCampaign("class", "queue")
    campaign.save("half", [code])
    code.write_text("a = 2")
    assert campaign.load() is None
    code.write_text("a = 1")
    assert campaign.load() == "half"
    code.unlink()
    assert campaign.load() is None
