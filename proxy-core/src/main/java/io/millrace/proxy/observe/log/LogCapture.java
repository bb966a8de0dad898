package io.millrace.proxy.observe.log;

import io.millrace.proxy.http.FieldName;

/**
 * A header field that a log format uses, so that log records contain it. Immutable.
 *
 * @param source the message that contains the header field
 * @param name the name of the header field
 * @param slot the text field of the record into which the event loop copies the value
 */
public record LogCapture(Source source, FieldName name, LogField slot) {
    /** Returns true if the other capture has the same header field of the same message. */
    boolean isSameField(LogCapture other) {
        return source == other.source && name.equals(other.name);
    }

    /** Returns the log format code, such as {@code {Accept}cqh}. */
    public String code() {
        return "{" + name + "}" + source.code();
    }

    /** The message that contains the header field, with its code in Traffic Server's templates. */
    public enum Source {
        /** The client's request. */
        CLIENT_REQUEST("cqh"),
        /** The origin's response, if the origin was contacted. */
        ORIGIN_RESPONSE("ssh"),
        /** The stored response, if it was used. */
        CACHED_RESPONSE("cssh"),
        /** The response sent to the client, stored or fetched, without fields added by the proxy. */
        PROXY_RESPONSE("psh");

        private final String code;

        Source(String code) {
            this.code = code;
        }

        /** The code after the name in braces, such as {@code cqh} in {@code %<{Accept}cqh>}. */
        String code() {
            return code;
        }
    }
}
