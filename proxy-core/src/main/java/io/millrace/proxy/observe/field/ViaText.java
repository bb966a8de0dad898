package io.millrace.proxy.observe.field;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Builds this proxy's entry of the {@code Via} field at one of Traffic Server's detail levels. There is one
 * object for requests and one for responses. The levels are:
 *
 * <pre>
 *   0  nothing
 *   1  1.1 millrace
 *   2  1.1 millrace (Millrace [cMsSfW])
 *   3  1.1 millrace (Millrace [uScMsSfWpSeN:t cCMi p sS])
 *   4  1.1 millrace (Millrace [uScMsSfWpSeN:t cCMi p sS] [http/1.1 tls tcp ipv4])
 * </pre>
 *
 * Immutable.
 */
public final class ViaText {
    /** Lowest level with letter codes. */
    private static final int CODES = 2;
    /** Lowest level with all letter codes. */
    private static final int FULL_CODES = 3;
    /** Lowest level with the protocols of the client's connection. */
    private static final int STACK = 4;

    private final String pseudonym;
    private final int level;
    private final @Nullable AsciiString http10;
    private final @Nullable AsciiString http11;
    private final @Nullable AsciiString http2;

    /** Creates the texts of one pseudonym at a level from 0 to 4. */
    public ViaText(String pseudonym, int level) {
        this.pseudonym = pseudonym;
        this.level = level;
        http10 = level == 0 ? null : AsciiString.cached("1.0 " + pseudonym);
        http11 = level == 0 ? null : AsciiString.cached("1.1 " + pseudonym);
        http2 = level == 0 ? null : AsciiString.cached("2.0 " + pseudonym);
    }

    /** Returns true if the level includes letter codes, which say how the request was answered. */
    public boolean hasCodes() {
        return level >= CODES;
    }

    /**
     * Returns the value without letter codes; null at level 0.
     *
     * @param version version of the received message: 0 for HTTP/1.0, 1 for HTTP/1.1, 2 for HTTP/2
     */
    public @Nullable AsciiString plain(int version) {
        return version == 0 ? http10 : version == 1 ? http11 : http2;
    }

    /** Builds the value with letter codes, for a level from 2 on. */
    AsciiString make(ViaCodes codes, int version, boolean secure, boolean ipv6) {
        String number = version == 2 ? "2.0" : "1." + version;
        StringBuilder text = new StringBuilder(96)
                .append(number)
                .append(' ')
                .append(pseudonym)
                .append(" (Millrace [")
                .append(level >= FULL_CODES ? codes.fullForm() : codes.shortForm())
                .append(']');
        if (level >= STACK) {
            text.append(" [http/")
                    .append(number)
                    .append(secure ? " tls" : "")
                    .append(ipv6 ? " tcp ipv6]" : " tcp ipv4]");
        }
        return AsciiString.of(text.append(')'));
    }
}
