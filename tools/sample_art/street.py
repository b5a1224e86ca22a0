"""MiniScene: streets with shop signs, road signs and posters, photographed on foot."""

from __future__ import annotations

from . import street_country, street_day, street_night, street_posters

PAGES = (street_day.PAGE, street_posters.PAGE, street_country.PAGE, street_night.PAGE)
