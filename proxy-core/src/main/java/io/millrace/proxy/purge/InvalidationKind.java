package io.millrace.proxy.purge;

/** The kinds of scopes of an invalidation (purge), and of records in its journal. */
public enum InvalidationKind {
    /** Everything. */
    ALL(1, "all"),
    /** All URLs of one host. */
    HOST(2, "host"),
    /** Every URL of a host whose path and query begin with the given text. */
    PREFIX(3, "prefix"),
    /** The members of one cache group of one origin (RFC 9875). */
    GROUP(4, "group"),
    /** The members of every cache group; replaces single groups if their table is full. */
    ALL_GROUPS(5, "all-groups"),
    /**
     * Every response whose record has a stamp: the number that each response gets when it is stored, and that purges
     * are compared with. Used if the storage has content but no journal, because the journal may have been lost.
     * Responses stored by versions without stamps stay valid.
     */
    JOURNAL_LOST(6, "journal-lost"),
    /** Responses with a tag on one site. */
    TAG(7, "tag"),
    /** Responses with a tag on any site. */
    TAG_EVERYWHERE(8, "tag-everywhere"),
    /** Every response with a tag; replaces single tags if their table is full. */
    ALL_TAGS(9, "all-tags"),
    /**
     * One URL, by a soft purge, or by a hard purge if an extension gives the URL several cache keys. Any other hard
     * purge of one URL removes the stored response instead.
     */
    URL(10, "url"),
    /** The secret key with which tags are hashed; only in the journal. */
    TAG_KEY(11, "tag-key"),
    /** Several entries of {@link #TAG}; only in the journal. */
    TAGS(12, "tags"),
    /** An undone soft purge or a cancelled purge by pattern, by its stamp. Only in the journal. */
    UNDONE(20, "undone"),
    /** Responses for which an expression is true (purge by pattern). */
    PATTERN(21, "pattern"),
    /** The stamp of a purge by pattern whose sweep (background removal) is complete; only in the journal. */
    PATTERN_RETIRED(22, "pattern-retired"),
    /** The position in the stream of a fleet's purges; only in the journal. */
    FLEET_POSITION(23, "fleet-position"),
    /** The stamp of a purge that another node of the fleet requested; only in the journal. */
    FLEET_PURGE(24, "fleet-purge");

    private final int code;
    private final String text;

    InvalidationKind(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The number in the journal; never changed. */
    int code() {
        return code;
    }

    /** Stable name for metrics and messages. */
    public String text() {
        return text;
    }

    /** Returns the kind with a number. */
    static InvalidationKind ofCode(int code) {
        for (InvalidationKind kind : values()) {
            if (kind.code == code) {
                return kind;
            }
        }
        throw new IllegalArgumentException("kind of invalidation: actual=" + code + ", maximum=" + FLEET_PURGE.code);
    }
}
