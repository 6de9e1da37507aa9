"""What was said, as words and sentences: what intent, assertions and standing instructions are read from."""

from clew.context.speech.mood import Mood, mood_of
from clew.context.speech.sentence import Sentence, sentences
from clew.context.speech.turns import Turn, turn_at, turns_at

__all__ = ["Mood", "Sentence", "Turn", "mood_of", "sentences", "turn_at", "turns_at"]
