package io.millrace.proxy.observe.log;

import io.millrace.proxy.http.FieldName;

/**
 * A header field that a template shows and records contain. Immutable.
 *
 * @param source the message with the field
 * @param name the name of the field
 * @param slot the field of the record
 */
public record LogCapture(Source source, FieldName name, LogField slot) {
    /** Returns true if both name the same header field of the same message. */
    boolean isSameField(LogCapture other) {
        return source == other.source && name.equals(other.name);
    }

    /** The message with the header field. The codes are taken from Traffic Server. */
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

        /** The code after the name in braces. */
        String code() {
            return code;
        }
    }
}
