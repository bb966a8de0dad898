package io.millrace.proxy.http.forward;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldNames;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import java.util.HashSet;
import java.util.Set;

/**
 * The hop-by-hop fields of one head, which are neither forwarded nor stored (RFC 9110 s7.6.1). They are the fields of a
 * fixed list, and the fields listed in {@code Connection} that this proxy does not know. If Connection lists a
 * well-known field, that entry is ignored: framing, routing or caching depend on the field. Otherwise a client could
 * use the entry to make the origin process a different request than the cache. Immutable.
 */
public final class HopByHop {

    private static final FieldNames FIXED = FieldNames.of(
            FieldName.CONNECTION,
            FieldName.KEEP_ALIVE,
            FieldName.PROXY_CONNECTION,
            FieldName.TE,
            FieldName.TRAILER,
            FieldName.TRANSFER_ENCODING,
            FieldName.UPGRADE,
            FieldName.HTTP2_SETTINGS);

    private static final HopByHop FIXED_ONLY = new HopByHop(Set.of());

    private final Set<FieldName> named;

    private HopByHop(Set<FieldName> named) {
        this.named = named;
    }

    /**
     * Returns the hop-by-hop fields of the section; a shared instance if {@code Connection} lists no further fields.
     */
    public static HopByHop of(FieldSection fields) {
        if (!fields.contains(FieldName.CONNECTION)) {
            return FIXED_ONLY;
        }
        Set<FieldName> named = null;
        ListCursor options = ListCursor.over(fields, FieldName.CONNECTION);
        while (options.next()) {
            if (options.isToken("keep-alive") || options.isToken("close") || options.isToken("upgrade")) {
                continue;
            }
            FieldName name = FieldName.of(options.bytes(), options.start(), options.end());
            if (name != null && !name.isWellKnown()) {
                if (named == null) {
                    named = new HashSet<>();
                }
                named.add(name);
            }
        }
        return named == null ? FIXED_ONLY : new HopByHop(named);
    }

    /** Returns true if the line of the section is hop-by-hop. */
    public boolean contains(FieldSection fields, int line) {
        if (FIXED.contains(fields, line)) {
            return true;
        }
        if (named.isEmpty()) {
            return false;
        }
        FieldName name = FieldName.of(fields.bytes(), fields.nameStart(line), fields.nameEnd(line));
        return name != null && named.contains(name);
    }

    /** Returns true if a field with this name is hop-by-hop. */
    public boolean contains(FieldName name) {
        return FIXED.contains(name) || named.contains(name);
    }

    /** Appends the lines that are not hop-by-hop. */
    public void copyEndToEnd(FieldSection fields, FieldSection.Builder to) {
        for (int line = 0; line < fields.size(); line++) {
            if (!contains(fields, line)) {
                to.addLine(fields, line);
            }
        }
    }
}
