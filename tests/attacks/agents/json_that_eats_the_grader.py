from pathlib import Path

Path("result.json").write_text("[" + '{"a":0},' * 2_000_000 + "0]")
Path("deep.json").write_text("[" * 5_000_000)
Path("digits.json").write_text("[" + "9" * 10_000_000 + "]")
