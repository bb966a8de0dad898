# Sourced by ./millrace and ./millctl with $root (the checkout) and $product_command (the script of bin/ to run).
# Packs the product when it is missing or older than the sources, unpacks each packing into a directory of its own
# (a product that still runs keeps its jars), and runs it with the caller's arguments and working directory.
set -eu

packed() { find "$root/dist/target" -maxdepth 1 -name 'millrace-*.tar.gz' 2>/dev/null | head -n 1; }

stale() {
    tarball=$(packed)
    [ -n "$tarball" ] || return 0
    [ -n "$(find "$root/pom.xml" "$root"/cache-store "$root"/proxy-core "$root"/admin-cli "$root"/dist \
        -name target -prune -o -path '*/src/test' -prune -o -type f -newer "$tarball" -print | head -n 1)" ]
}

pack() {
    command -v mvn >/dev/null || {
        echo "$product_command: the product is not packed yet, and packing it needs Maven 3.8 or later (mvn)" >&2
        exit 1
    }
    echo "$product_command: packing the product with Maven (once; a minute or two, longer while Maven downloads) ..." >&2
    mvn -q -B -f "$root/pom.xml" -pl dist -am -DskipTests -Dspotless.check.skip=true package \
        >"$root/dist/target/packing.log" 2>&1 || {
        cat "$root/dist/target/packing.log" >&2
        echo "$product_command: packing failed" >&2
        exit 1
    }
}

if stale; then
    mkdir -p "$root/dist/target"
    if command -v flock >/dev/null; then
        exec 9>"$root/dist/target/.packing"
        flock 9
        if stale; then pack 9>&-; fi
        exec 9>&-
    else
        pack
    fi
fi

tarball=$(packed)
unpacked=$root/dist/target/unpacked/$(cksum <"$tarball" | tr ' ' -)
if [ ! -d "$unpacked" ]; then
    mkdir -p "$unpacked.$$"
    tar -xzf "$tarball" -C "$unpacked.$$" --strip-components=1
    # A second caller may have been faster: its directory is as good.
    mv -T "$unpacked.$$" "$unpacked" 2>/dev/null || rm -rf "$unpacked.$$"
fi
exec "$unpacked/bin/$product_command" "$@"
