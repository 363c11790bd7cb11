from pathlib import Path

Path("result.json").write_text('{"score": 1e999, "score": NaN}')
Path("nan.json").write_text('{"score": NaN}')
Path("huge.json").write_text('{"score": 1e400}')
Path("twice.json").write_text('{"score": 0, "score": 1}')
Path("nan.py").write_text("print('nan')")
Path("inf.py").write_text("print('inf')")
Path("huge.py").write_text("print('1e999')")
Path("text.py").write_text("print('1.0 passed')")
