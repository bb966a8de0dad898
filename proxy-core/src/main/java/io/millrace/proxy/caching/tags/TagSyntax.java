package io.millrace.proxy.caching.tags;

import java.util.Locale;

/** The separators of tags in a field. */
public enum TagSyntax {
    /** White space: {@code Surrogate-Key} and {@code xkey}. */
    SPACES,
    /** Commas with optional white space: {@code Cache-Tag} and {@code Edge-Cache-Tag}. */
    COMMAS,
    /** A list of strings (RFC 9651): {@code Cache-Groups}. */
    STRINGS,
    /** White space and commas: all other fields. */
    EITHER;

    /** Returns the syntax of a field. */
    public static TagSyntax of(String fieldName) {
        return switch (fieldName.toLowerCase(Locale.ROOT)) {
            case "surrogate-key", "xkey", "xkey-purge", "xkey-softpurge" -> SPACES;
            case "cache-tag", "edge-cache-tag" -> COMMAS;
            case "cache-groups" -> STRINGS;
            default -> EITHER;
        };
    }

    boolean isSeparator(byte b) {
        boolean space = b == ' ' || b == '\t';
        return (space && this != COMMAS) || (b == ',' && this != SPACES);
    }
}
