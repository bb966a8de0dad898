package io.millrace.proxy.caching.tags;

import java.util.Locale;

/** How a field separates its tags. */
public enum TagSyntax {
    /** By white space: {@code Surrogate-Key} and {@code xkey}. */
    SPACES,
    /** By commas, with white space around them: {@code Cache-Tag} and {@code Edge-Cache-Tag}. */
    COMMAS,
    /** A list of strings (RFC 9651): {@code Cache-Groups}. */
    STRINGS,
    /** By white space and by commas: every other field. */
    EITHER;

    /** The syntax of a field. */
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
