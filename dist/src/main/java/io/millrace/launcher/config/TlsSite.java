package io.millrace.launcher.config;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Names that {@code run} serves over HTTPS without a file. Immutable.
 *
 * @param names which certificates are issued for
 * @param https address that speaks TLS
 * @param email contact for the issuer; null for none
 */
public record TlsSite(
        List<String> names, String https, @Nullable String email, boolean acceptsTerms) {
    /** Address of the HTTPS listener when none is named. */
    public static final String HTTPS_DEFAULT = ":443";

    static final String HTTP_DEFAULT = ":80";

    /** Copies the names. */
    public TlsSite {
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
        // Behind a port mapping, clients see other ports than those listened on: the standard ones.
        Set<String> plainEnds = new LinkedHashSet<>(List.of("/"));
        listen.forEach(address -> plainEnds.add(end(address, "80")));
        Set<String> secureEnds = new LinkedHashSet<>(List.of("/", end(https, "443")));
        for (String name : names) {
            for (String end : secureEnds) {
                map(text, "map", "https://" + name + end, origin);
            }
            for (String end : plainEnds) {
                String secureEnd = end.equals("/") ? "/" : end(https, "443");
                map(text, "redirect", "http://" + name + end, "https://" + name + secureEnd);
            }
        }
        return text.toString();
    }

    private static void map(StringBuilder text, String verb, String from, String to) {
        text.append("  - ").append(verb).append(": ").append(quoted(from));
        text.append("\n    to: ").append(quoted(to)).append('\n');
    }

    /** The part of URLs behind a name, for an address. */
    private static String end(String address, String standardPort) {
        String port = address.substring(address.lastIndexOf(':') + 1);
        return port.equals(standardPort) ? "/" : ":" + port + "/";
    }

    /** A double-quoted scalar of YAML. */
    static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
