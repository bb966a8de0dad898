package io.millrace.proxy.purge;

/** The scope of an invalidation. */
public enum InvalidationKind {
    /** Everything. */
    ALL(1, "all"),
    /** Everything of one host. */
    HOST(2, "host"),
    /** Every URL of a host whose path and query begin with the given text. */
    PREFIX(3, "prefix"),
    /** The members of one cache group of one origin (RFC 9875). */
    GROUP(4, "group"),
    /** The members of every cache group: instead of more groups than are told apart. */
    ALL_GROUPS(5, "all-groups"),
    /**
     * Everything that has a stamp, but not what was stored before there were any: where a journal was begun beside content, it
     * may have had one before.
     */
    STAMPED(6, "journal-lost"),
    /** Responses with a tag on one site. */
    TAG(7, "tag"),
    /** Responses with a tag on any site. */
    TAG_EVERYWHERE(8, "tag-everywhere"),
    /** Everything that has a tag: instead of more tags than are told apart. */
    ALL_TAGS(9, "all-tags"),
    /** One URL, softly. */
    URL(10, "url"),
    /** In the journal only: the key under which tags are hashed. */
    TAG_KEY(11, "tag-key"),
    /** In the journal only: many of {@link #TAG}. */
    TAGS(12, "tags"),
    /** The stamp of an undone soft purge; only in the journal. */
    UNDONE(20, "undone");

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

    /** The kind of that number. */
    static InvalidationKind ofCode(int code) {
        for (InvalidationKind kind : values()) {
            if (kind.code == code) {
                return kind;
            }
        }
        throw new IllegalArgumentException("kind of invalidation: actual=" + code + ", maximum=" + UNDONE.code);
    }
}
