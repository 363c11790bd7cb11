# There is no network: the package and its repository are made here.
set -e
mkdir -p /srv/build /srv/repository
cd /srv/build
mkdir -p tinytool/DEBIAN tinytool/usr/bin
cat > tinytool/DEBIAN/control <<END
Package: tinytool
Version: 1.0
Architecture: all
Maintainer: nobody <nobody@example.com>
Description: says that it works
END
printf '#!/bin/sh\necho tool works\n' > tinytool/usr/bin/tinytool
chmod 755 tinytool/DEBIAN tinytool/usr/bin/tinytool
dpkg-deb --root-owner-group --build tinytool /srv/repository/tinytool.deb
cd /srv/repository
cp "$OLDPWD/tinytool/DEBIAN/control" Packages
cat >> Packages <<END
Filename: ./tinytool.deb
Size: $(stat -c %s tinytool.deb)
SHA256: $(sha256sum tinytool.deb | cut -d" " -f1)
END
chmod -R a+rX /srv/repository
rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/srv/repository ./' > /etc/apt/sources.list.d/local.list
apt-get update
apt-get install --yes tinytool
tinytool
