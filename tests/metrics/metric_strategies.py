"""Texts for property tests: mostly short and alike, so that hits and near misses are common."""

from __future__ import annotations

from hypothesis import strategies as st

# 'İ' becomes two code points in lower case, 'Σ' becomes one of two; 'ß' and 'ﬁ' do not change.
ALPHABET = "aAbB01gG .,%-İΣßﬁ個月ｇ１\u0301\U0001f600"

texts = st.text(ALPHABET, max_size=12) | st.text(ALPHABET, max_size=150) | st.text(max_size=20)
answers = st.text(ALPHABET, min_size=1, max_size=12) | st.text(min_size=1, max_size=20)
answer_lists = st.lists(answers.filter(str.strip), min_size=1, max_size=5)
taus = st.sampled_from([0.5]) | st.floats(0.01, 1.0)
