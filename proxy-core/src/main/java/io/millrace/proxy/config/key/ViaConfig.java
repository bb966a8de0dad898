package io.millrace.proxy.config.key;

/**
 * What requests and answers say of this proxy. Immutable.
 *
 * @param name this proxy's name in Via and Cache-Status
 * @param response how much Via says in answers
 * @param request how much Via says in requests to origins
 * @param server what answers say in Server
 */
public record ViaConfig(String name, Level response, Level request, ServerField server) {
    /** How much Via says; the numbers are Traffic Server's. */
    public enum Level {
        /** There is none of this proxy's own. */
        NONE,
        /** Version and name. */
        NAME,
        /** Six letters of the outcome too. */
        SHORT,
        /** All letters of the outcome. */
        FULL,
        /** The protocols of the client's connection too. */
        STACK
    }

    /** What the Server field of an answer says. */
    public enum ServerField {
        /** What the origin said. */
        PASS,
        /** What the origin said, else this proxy's name. */
        MISSING,
        /** This proxy's name. */
        OWN,
        /** There is none. */
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
