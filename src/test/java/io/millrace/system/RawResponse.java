package io.millrace.system;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One response, head and whole body, as received. Immutable; the body array is borrowed. */
final class RawResponse {

    private final Wire.Head head;
    private final byte[] body;

    RawResponse(Wire.Head head, byte[] body) {
        this.head = head;
        this.body = body;
    }

    static int statusOf(Wire.Head head) {
        String line = head.startLine();
        if (!line.matches("HTTP/1\\.[01] [1-9][0-9]{2} .*")) {
            throw new AssertionError("not a status line: " + line);
        }
        return Integer.parseInt(line.substring(9, 12));
    }

    Wire.Head head() {
        return head;
    }

    int status() {
        return statusOf(head);
    }

    @Nullable
    String field(String name) {
        return head.field(name);
    }

    /** Returns all lines of a field joined with a comma; empty if there is none. */
    String joined(String name) {
        return head.joined(name);
    }

    List<String> values(String name) {
        return head.values(name);
    }

    byte[] body() {
        return body;
    }

    String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** Returns the age in seconds (RFC 9111 section 5.1); -1 without the field. */
    long ageSeconds() {
        String age = field("Age");
        return age == null ? -1 : Long.parseLong(age);
    }

    /** Returns whether the response came from the cache, by Cache-Status (RFC 9211 section 2.1). */
    boolean isHit() {
        for (String part : joined("Cache-Status").split(";", -1)) {
            if (part.strip().equals("hit")) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(head.startLine()).append('\n');
        for (Wire.Field field : head.fields()) {
            text.append(field.name()).append(": ").append(field.value()).append('\n');
        }
        return text.append('[')
                .append(body.length)
                .append(" bytes] ")
                .append(new String(body, 0, Math.min(body.length, 200), StandardCharsets.UTF_8))
                .toString();
    }
}
