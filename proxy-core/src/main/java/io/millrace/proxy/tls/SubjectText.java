package io.millrace.proxy.tls;

import java.nio.charset.StandardCharsets;
import javax.security.auth.x500.X500Principal;

/** Converts distinguished names to text that is safe in header fields and logs. Thread-safe: no state. */
final class SubjectText {
    private static final String HEXADECIMAL = "0123456789ABCDEF";

    private SubjectText() {}

    /**
     * Returns a name in the format of RFC 4514. Escapes bytes outside printable ASCII as {@code \HH}, because a
     * subject may contain line breaks.
     */
    static String of(X500Principal subject) {
        String name = subject.getName(X500Principal.RFC2253);
        if (name.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            return name;
        }
        StringBuilder text = new StringBuilder();
        for (byte each : name.getBytes(StandardCharsets.UTF_8)) {
            if (each >= ' ' && each <= '~') {
                text.append((char) each);
            } else {
                text.append('\\').append(HEXADECIMAL.charAt(each >> 4 & 0xf)).append(HEXADECIMAL.charAt(each & 0xf));
            }
        }
        return text.toString();
    }
}
