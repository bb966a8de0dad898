package io.millrace.proxy.observe.log;

import io.millrace.proxy.http.FieldName;

/**
 * A header field that the lines of a template show and records carry for it. Immutable.
 *
 * @param source whose field it is
 * @param name the field
 * @param slot where records carry it
 */
public record LogCapture(Source source, FieldName name, LogField slot) {
    /** Whose header field it is; the codes are Traffic Server's. */
    public enum Source {
        /** The client's request. */
        CLIENT_REQUEST("cqh"),
        /** The origin's response, where it was asked. */
        ORIGIN_RESPONSE("ssh"),
        /** The stored response, where one answered. */
        CACHED_RESPONSE("cssh"),
        /** The response that answered, stored or fetched, without what the proxy adds. */
        PROXY_RESPONSE("psh");

        private final String code;

        Source(String code) {
            this.code = code;
        }

        /** The code behind the name in braces. */
        String code() {
            return code;
        }
    }
}
