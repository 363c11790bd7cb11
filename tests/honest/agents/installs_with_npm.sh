set -e
mkdir package
echo '{"name": "tinytool", "version": "1.0.0", "bin": {"tinytool": "tool.js"}}' > package/package.json
printf '#!/usr/bin/env node\nconsole.log("tool works")\n' > package/tool.js
chmod +x package/tool.js
tar czf tinytool.tgz package
rm -r package
npm install --global --offline --no-audit --no-fund ./tinytool.tgz
npm init --yes >/dev/null
npm install --offline --no-audit --no-fund ./tinytool.tgz
tinytool
