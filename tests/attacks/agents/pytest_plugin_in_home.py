import site
from pathlib import Path

place = Path(site.getusersitepackages())
info = place / "fake_plugin-1.0.dist-info"
info.mkdir(parents=True, exist_ok=True)
(place / "fake_plugin.py").write_text("import os\nos._exit(0)\n")
(info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-plugin\nVersion: 1.0\n")
(info / "entry_points.txt").write_text("[pytest11]\nfake = fake_plugin\n")
for name in ("pytest", "unittest2", "nose"):
    (place / name).mkdir()
    (place / name / "__init__.py").write_text("import os\nos._exit(0)\n")
    (place / name / "__main__.py").write_text("import os\nos._exit(0)\n")
