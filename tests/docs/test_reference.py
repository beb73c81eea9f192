"""The reference pages match the code."""

from pathlib import Path

import pytest

from memoryd.api.application import TABLE, description
from memoryd.config import paths
from memoryd.config.root import Config
from memoryd.daemon.log_output import LOG_NAME
from tests.docs.configuration import keys
from tests.docs.reference import FOLDER, PAGES, render


@pytest.mark.parametrize("name", PAGES)
def test_page_is_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == render(name), "run `make docs`"


def test_page_of_files_names_the_files_of_the_daemon() -> None:
    text = render("files.md")
    for path in (paths.http_token_file(), paths.spending_file(), Path(LOG_NAME)):
        assert path.name in text
    assert "never written" not in text


def test_every_page_of_the_folder_is_generated() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)


def test_every_key_has_a_meaning() -> None:
    found = list(keys(Config, Config().model_dump(mode="json", by_alias=True)))
    assert len(found) > 150
    assert not [key.path for key in found if not key.meaning]


def test_every_field_and_parameter_of_the_api_has_a_meaning() -> None:
    schema = description(TABLE)
    shapes = schema["components"]["schemas"]
    fields = {
        f"{name}.{key}": field for name, shape in shapes.items() for key, field in shape.get("properties", {}).items()
    }
    parameters = {
        f"{path} {parameter['name']}": parameter
        for path, calls in schema["paths"].items()
        for call in calls.values()
        for parameter in call.get("parameters", ())
    }
    assert len(fields) > 200
    assert len(parameters) > 5
    assert not [name for name, part in {**fields, **parameters}.items() if not part.get("description")]
