package io.millrace.system;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** One request as received by a {@link ScriptedOrigin}. Immutable; the body array is borrowed. */
final class OriginRequest {

    private final Wire.Head head;
    private final byte[] body;

    OriginRequest(Wire.Head head, byte[] body) {
        this.head = head;
        this.body = body;
    }

    Wire.Head head() {
        return head;
    }

    String method() {
        return head.startLine().substring(0, head.startLine().indexOf(' '));
    }

    String target() {
        return head.startLine().split(" ", -1)[1];
    }

    /** Returns the target up to its query. */
    String path() {
        String target = target();
        int query = target.indexOf('?');
        return query < 0 ? target : target.substring(0, query);
    }

    @Nullable
    String field(String name) {
        return head.field(name);
    }

    byte[] body() {
        return body;
    }

    String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return head.startLine() + " " + head.fields() + " [" + body.length + " bytes]";
    }
}
