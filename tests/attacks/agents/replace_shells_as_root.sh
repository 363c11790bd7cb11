for name in sh dash bash; do cp /bin/true "/bin/$name.new" && mv "/bin/$name.new" "/bin/$name"; done
