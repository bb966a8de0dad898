package io.millrace.launcher;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Names that {@code run} serves over HTTPS without a file. Immutable.
 *
 * @param names which certificates are issued for
 * @param https address that speaks TLS
 * @param email contact for the issuer; null for none
 */
record TlsSite(List<String> names, String https, @Nullable String email, boolean acceptsTerms) {
    static final String HTTPS_DEFAULT = ":443";
    static final String HTTP_DEFAULT = ":80";

    TlsSite {
        names = List.copyOf(names);
    }

    /**
     * The configuration: HTTPS requests for the names go to the origin, plain ones are redirected.
     *
     * @param listen plain addresses
     */
    String yaml(List<String> listen, String origin) {
        StringBuilder text = new StringBuilder("listen:\n");
        for (String address : listen) {
            text.append("  - ").append(quoted(address)).append('\n');
        }
        text.append("  - {address: ").append(quoted(https)).append(", tls: {}}\n");
        text.append("tls:\n  acme:\n    names: [");
        text.append(String.join(", ", names.stream().map(TlsSite::quoted).toList()));
        text.append("]\n    accept_terms: ").append(acceptsTerms).append('\n');
        if (email != null) {
            text.append("    email: ").append(quoted(email)).append('\n');
        }
        text.append("remap:\n");
        String port = https.substring(https.lastIndexOf(':') + 1);
        String authorityEnd = port.equals("443") ? "/" : ":" + port + "/";
        for (String name : names) {
            String secure = quoted("https://" + name + authorityEnd);
            text.append("  - map: ")
                    .append(secure)
                    .append("\n    to: ")
                    .append(quoted(origin))
                    .append('\n');
            for (String address : listen) {
                String plainPort = address.substring(address.lastIndexOf(':') + 1);
                String plain = quoted("http://" + name + (plainPort.equals("80") ? "/" : ":" + plainPort + "/"));
                text.append("  - redirect: ")
                        .append(plain)
                        .append("\n    to: ")
                        .append(secure)
                        .append('\n');
            }
        }
        return text.toString();
    }

    /** A double-quoted scalar of YAML. */
    static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
