from pathlib import Path

deep = Path(*(f"level{number}" for number in range(40)))
deep.mkdir(parents=True)
(deep / "leaf.txt").write_text("found")
for number in range(5000):
    place = Path("node_modules", f"package{number // 50}")
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{number}.js").write_text(f"module.exports = {number}\n")
