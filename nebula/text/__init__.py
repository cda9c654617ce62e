"""Text to tokens, words and keywords: pure functions, the only user of jieba. Import the modules by name."""
