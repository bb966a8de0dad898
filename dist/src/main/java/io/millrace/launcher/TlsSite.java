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
     * The configuration: plain requests for the names are sent to HTTPS, everything else goes to the origin.
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
        for (String name : names) {
            text.append("  - redirect: ").append(quoted("http://" + name + "/")).append('\n');
            text.append("    to: ")
                    .append(quoted("https://" + name + (port.equals("443") ? "" : ":" + port) + "/"))
                    .append('\n');
        }
        return text.append("  - map: /\n    to: ").append(quoted(origin)).append('\n').toString();
    }

    /** A double-quoted scalar of YAML. */
    static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
