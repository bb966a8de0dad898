package io.millrace.proxy.config.key;

/**
 * Settings of the fields that identify this proxy in requests and responses. Immutable.
 *
 * @param name name of this proxy in Via and Cache-Status
 * @param response detail of Via in responses
 * @param request detail of Via in requests to origins
 * @param server content of the Server field in responses
 */
public record ViaConfig(String name, Level response, Level request, ServerField server) {
    /** Detail of Via; the numbers are those of Traffic Server. */
    public enum Level {
        /** No Via entry of this proxy. */
        NONE,
        /** Version and name. */
        NAME,
        /** Version, name, and six letters that describe the outcome. */
        SHORT,
        /** Version, name, and all letters that describe the outcome. */
        FULL,
        /** As {@link #FULL}, and the protocols of the client's connection. */
        STACK
    }

    /** Content of the Server field of a response. */
    public enum ServerField {
        /** The value from the origin. */
        PASS,
        /** The value from the origin; this proxy's name if there is none. */
        MISSING,
        /** This proxy's name. */
        OWN,
        /** No Server field. */
        OFF
    }

    public static ViaConfig from(ConfigValues values) {
        return new ViaConfig(
                values.get(ConfigKeys.VIA_NAME),
                values.get(ConfigKeys.VIA_RESPONSE),
                values.get(ConfigKeys.VIA_REQUEST),
                values.get(ConfigKeys.VIA_SERVER));
    }
}
