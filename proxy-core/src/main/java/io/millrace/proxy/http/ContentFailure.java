package io.millrace.proxy.http;

/** Why content ended before its time. */
public enum ContentFailure {
    /** The origin's connection ended or broke before the last byte. */
    ORIGIN_TRUNCATED("origin-truncated"),
    /** The origin has another representation now, so that the rest would not fit. */
    ORIGIN_CHANGED("origin-changed"),
    /** A stored piece could not be read or failed its checksum. */
    STORE_READ("store-read");

    private final String text;

    ContentFailure(String text) {
        this.text = text;
    }

    /** A stable word for logs. */
    public String text() {
        return text;
    }
}
