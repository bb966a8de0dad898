package io.millrace.proxy.http;

/** The reasons why content ended early. */
public enum ContentFailure {
    /** The origin's connection ended or failed before the last byte. */
    ORIGIN_TRUNCATED("origin-truncated"),
    /** The origin now has another representation, so the missing bytes would not match the received ones. */
    ORIGIN_CHANGED("origin-changed"),
    /** A stored piece could not be read or its checksum is wrong. */
    STORE_READ("store-read");

    private final String text;

    ContentFailure(String text) {
        this.text = text;
    }

    /** The identifier of this reason in logs. Never changes. */
    public String text() {
        return text;
    }
}
