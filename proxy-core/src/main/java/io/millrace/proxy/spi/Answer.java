package io.millrace.proxy.spi;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A complete response of an extension, in place of a response from the cache or the origin. The proxy adds Date,
 * Content-Length and its own fields.
 *
 * <p>Immutable.
 */
public final class Answer {
    private static final int STATUS_MIN = 200;
    private static final int STATUS_MAX = 599;

    private final int status;
    private final List<String> fields;
    private final byte[] body;

    private Answer(Builder builder) {
        status = builder.status;
        fields = List.copyOf(builder.fields);
        body = builder.body;
    }

    /**
     * Begins an answer.
     *
     * @param status from 200 to 599
     */
    public static Builder status(int status) {
        if (status < STATUS_MIN || status > STATUS_MAX) {
            throw new IllegalArgumentException(
                    "the status of an answer is from " + STATUS_MIN + " to " + STATUS_MAX + ", not " + status);
        }
        return new Builder(status);
    }

    /** The status code. */
    public int status() {
        return status;
    }

    /** The fields as one list, in which the value of each field follows its name. */
    public List<String> fields() {
        return fields;
    }

    /** The content. Borrowed, and must not be changed. */
    public byte[] body() {
        return body;
    }

    /**
     * The builder of an answer.
     *
     * <p>Not thread-safe.
     */
    public static final class Builder {
        private final int status;
        private final List<String> fields = new ArrayList<>();
        private byte[] body = {};

        private Builder(int status) {
            this.status = status;
        }

        /** Appends a field. The proxy checks it when it sends the answer. */
        public Builder field(String name, String value) {
            fields.add(Objects.requireNonNull(name));
            fields.add(Objects.requireNonNull(value));
            return this;
        }

        /** Sets the content as UTF-8. Without a Content-Type, the answer gets {@code text/plain; charset=utf-8}. */
        public Builder body(String text) {
            body = text.getBytes(StandardCharsets.UTF_8);
            return this;
        }

        /** Sets the content. Copies the bytes. */
        public Builder body(byte[] bytes) {
            body = bytes.clone();
            return this;
        }

        /** Returns the answer. */
        public Answer build() {
            return new Answer(this);
        }
    }
}
